"""Reads a title: finds the families of cards that it names, memory sizes, and words that tell the kind of product."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity import text
from gpuledger.transform.identity.index import OPEN_WORDS, Family, Index, Node
from gpuledger.transform.identity.reading import (
    ARCHITECTURES,
    FORM_WORDS,
    Mention,
    Reading,
    count_of_number,
    count_of_token,
)
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import UNITS, Lexicon, Token, Words

#: Words that make another card behind any model number, even if we know no such card.
ALWAYS = frozenset(("ti", "super", "xt", "xtx", "gre"))
#: Words that stand for one or more suffixes.
GLUED = {"tis": ("ti", "super"), "tisp": ("ti", "super"), "tisuper": ("ti", "super"), "supers": ("super",)}
#: How letters behind a number begin if a short code follows the suffix: `650TIB` (Ti Boost), `6700XTCLD`. Longest first.
_BEGINNINGS = (
    ("tis", ("ti", "super")),
    ("ti", ("ti",)),
    ("super", ("super",)),
    ("xtx", ("xtx",)),
    ("xt", ("xt",)),
    ("gre", ("gre",)),
)
#: Single letters that may have a space before them: `RTX 4090 D`, `R9 290 X`, `TITAN Z`, `TITAN V`.
_APART = frozenset("xdvz")
#: Families whose letter may stand anywhere in the title. For others, the names of product lines have too many single letters
#: (Phantom Gaming D, Gaming X).
_ANYWHERE = {
    ("titan",): frozenset("xzv"),
    ("fury",): frozenset("x"),
    ("rtx", "4090"): frozenset("d"),
    ("rtx", "5090"): frozenset("d"),
    ("rtx", "6000"): frozenset("d"),
}
#: In Sapphire's `Tri-X R9 Fury` the X belongs to the cooler. No other cooler of these families has such a name.
_BEFORE_X = frozenset(("tri",))


@dataclass(slots=True)
class Suffixes:
    """The suffixes that begin at one place in a title. `end` is the place of the first token behind them."""

    end: int
    suffixes: set[str] = field(default_factory=set)
    #: Words for laptops among the suffixes.
    marks: set[str] = field(default_factory=set)
    #: Letters inside a part number, which are a suffix or part of the code (`RX-560D4SFG5`).
    in_code: set[str] = field(default_factory=set)


def read_suffixes(tokens: list[Token], family: Family, start: int, vocabulary: Vocabulary) -> Suffixes:
    """Read the suffixes of `family` in the tokens from `start` on."""
    run = Suffixes(start)
    while run.end < len(tokens) and _take(tokens, run, family, vocabulary):
        run.end += 1
    return run


def _take(tokens: list[Token], run: Suffixes, family: Family, vocabulary: Vocabulary) -> bool:
    """Add the token at the end of `run` if it is a suffix; returns whether it is."""
    token = tokens[run.end]
    word = token.text
    after = tokens[run.end + 1] if run.end + 1 < len(tokens) else None
    if after is not None and word not in family.suffixes and after.text in vocabulary.lines_behind.get(word, ()):
        return False  # Super JetStream
    if word in GLUED and word not in family.suffixes:
        run.suffixes.update(GLUED[word])
    elif word == "s" and "s" not in family.suffixes and "super" in family.suffixes:
        run.suffixes.add("super")
    elif word == "sp" and token.glued and "sp" not in family.suffixes and "super" in family.suffixes:
        run.suffixes.add("super")  # Kuroutoshikou's `GG-RTX4070SP`
    elif word == "s" and "s" not in family.suffixes and "server" in family.suffixes:
        run.suffixes.add("server")  # `RTX PRO 6000 S` beside `RTX PRO 6000 WS`
    elif word == "m" and token.glued and "m" not in family.suffixes and _ends_word(after):
        run.marks.add("mobile")
    elif word in family.suffixes and token.memory_type is None:
        return _take_known(token, after, run)
    elif word in ALWAYS:
        run.suffixes.add(word)
    elif (token.glued or _ends_in_a_line(word, vocabulary)) and (meant := _beginning(word)):
        run.suffixes.update(meant)
    elif word in vocabulary.mobile or word == "maxq":
        run.marks.add(word)
    else:
        return False
    return True


def _beginning(word: str) -> tuple[str, ...]:
    return next((meant for start, meant in _BEGINNINGS if word.startswith(start)), ())


def _ends_in_a_line(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a suffix is glued to the word of a maker's line: `XTELITE`, `TIGAMING`, `SUPEROC`, not `XTREME`."""
    if len(word) < 3 or any(map(word.startswith, vocabulary.not_glued)):
        return False
    rests = (word[len(start) :] for start, _ in _BEGINNINGS if word.startswith(start))
    return word.startswith("xt") or any(rest.startswith(line) for rest in rests for line in vocabulary.card_lines)


def _take_known(token: Token, after: Token | None, run: Suffixes) -> bool:
    """Add a suffix of the family. A single letter counts only if the rest of a part number does not follow it."""
    if len(token.text) == 1:
        if token.glued and not _ends_word(after) and after is not None and after.memory_type is None:
            run.in_code.add(token.text)
            return False
        if not token.glued and token.text not in _APART:
            return False
    run.suffixes.add(token.text)
    return True


def letters_anywhere(tokens: list[Token], family: Family) -> set[str]:
    """Single letters that may be a suffix although they do not stand behind the number (`D ... RTX 4090`)."""
    letters = _ANYWHERE.get(family.core, frozenset())
    return (
        {
            token.text
            for position, token in enumerate(tokens)
            if token.text in letters
            and not token.glued
            and not (token.text == "x" and position and tokens[position - 1].text in _BEFORE_X)
        }
        if letters
        else set()
    )


def _ends_word(after: Token | None) -> bool:
    return after is None or not after.glued


#: Words that may stand inside a name: "Arc Graphics A770", "Radeon Graphics RX 580".
_INSIDE = frozenset(("graphics", "nvidia", "geforce", "radeon", "amd"))

#: Lines whose word, with a number behind it, always names a card. `HD 1080`, `R5 5600` and `MX 500` may be other things.
_LINES = frozenset(("rtx", "gtx", "rx"))
_SERIES = frozenset(("series", "serie", "시리즈"))


class Reader:
    """Reads titles with the help of an index. It remembers the words that it reads, so every thread needs its own reader."""

    def __init__(self, index: Index, vocabulary: Vocabulary) -> None:
        self._index = index
        self._vocabulary = vocabulary
        self._numbered = vocabulary.numbered
        families = index.families.values()
        whole = {
            family.core[0] + suffix: (family.core[0], suffix)
            for family in families
            if family.joined
            for suffix in family.suffixes
            if suffix.isalpha() and len(suffix) <= 2
        }
        numbered = frozenset((core[0], core[1]) for core in index.families if len(core) == 2)
        live, names = _words_with_a_meaning(index, vocabulary), _words_of_names(index)
        self._words = Words(Lexicon(live, names, index.joined, whole, numbered, vocabulary.spelling))

    def read_title(self, title: str) -> Reading:
        """The reading of `title`."""
        tokens = self._words.tokens(title)
        reading = Reading(tokens, len(title))
        position, depth, count = 0, 0, len(tokens)
        while position < count:
            token = tokens[position]
            if not token.live:
                reading.noise += 1
                position += 1
                continue
            word = token.text
            if word in "()":
                depth = depth + 1 if word == "(" else max(0, depth - 1)
                position += 1
                continue
            if maker := self._vocabulary.maker.get(word):
                reading.makers.add(maker)
            node = self._index.start.get(word)
            if node is not None and (after := self._read_name(reading, node, position, depth > 0)):
                position = self._read_second_name(reading, after, depth > 0)
                continue
            if word in _LINES:
                behind = [token for token in tokens[position + 1 : position + 4] if token.text != "pro"]
                if number := _name_number(behind):
                    reading.unknown_names.append(f"{word} {number}")
            position = self._read_mark(reading, position, depth > 0)
        return reading

    def _read_mark(self, reading: Reading, position: int, inside: bool) -> int:
        """Note the meaning of a token that begins no name; returns the position behind it."""
        token = reading.tokens[position]
        word = token.text
        if token.memory is not None or token.memory_type:
            if token.memory is not None and not _is_rate(reading.tokens, position + 1):
                reading.memory.append((token.memory, inside))
            if token.memory_type:
                reading.memory_types.add(token.memory_type)
        elif token.count:
            reading.count = max(reading.count, count_of_token(reading, position, self._vocabulary))
            if token.count_behind:
                reading.marks.add(word)  # in FirePro S7150 x2 it is part of the name of one board
        elif word[0].isdigit():
            return self._read_number(reading, position, inside)
        elif not token.glued or len(word) > 1:  # not the `d` of `3d`
            reading.marks.add(word)
        return position + 1

    def _read_name(self, reading: Reading, node: Node, position: int, inside: bool) -> int:
        """Follow the trie of cores from `position`, and note the family with the longest core.

        Returns the position behind the name, or 0 if there is none.
        """
        tokens = reading.tokens
        best: Family | None = node.family
        end = here = position + 1
        pro = False
        while here < len(tokens):
            word = tokens[here].text
            step = node.after.get(word)
            if step is not None:
                node = step
                if node.family is not None:
                    best, end = node.family, here + 1
            elif word == "pro" and tokens[position].text == "rtx":
                pro = True  # RTX PRO 6000 has the core of RTX 6000; Radeon Pro VII has another than Radeon VII
            elif word not in _INSIDE:
                break
            here += 1
        if best is None or (best.joined and end < len(tokens) and not _may_follow(tokens[end], best)):
            return 0
        if pro:
            reading.marks.add("pro")
        if best.short and (memory := tokens[position].memory) is not None:
            reading.memory_in_names.append((memory, inside))
        return self._add_mention(reading, best, range(position, end), weak=best.short, inside=inside)

    def _read_second_name(self, reading: Reading, position: int, inside: bool) -> int:
        """Note a second card of the same line behind a slash (`RTX 4070/4080`); returns the position behind it."""
        core, behind = reading.mentions[-1].family.core, reading.tokens[position : position + 3]
        if core[0] not in _LINES or not behind or behind[0].text != "/":
            return position
        number = _name_number(behind[1:])
        if number is None or len(number) != len(core[-1]):
            return position
        family = self._index.families.get((core[0], number))
        if family is None:
            reading.unknown_names.append(f"{core[0]} {number}")
            return position + 2
        return self._add_mention(reading, family, range(position + 1, position + 2), weak=False, inside=inside)

    def _add_mention(self, reading: Reading, family: Family, place: range, *, weak: bool, inside: bool) -> int:
        """Note that the tokens at `place` name `family`; returns the position behind the suffixes."""
        run = read_suffixes(reading.tokens, family, place.stop, self._vocabulary)
        reading.marks |= run.marks
        reading.letters_in_codes |= run.in_code
        spelled = " ".join(token.text for token in reading.tokens[place.start : run.end])
        reading.mentions.append(Mention(family, frozenset(run.suffixes), spelled, place.start, run.end, weak, inside))
        return run.end

    def _read_number(self, reading: Reading, position: int, inside: bool) -> int:
        """Note a number: a memory size if a unit follows it, otherwise perhaps a model number without its prefix.

        Returns the position behind the number.
        """
        tokens = reading.tokens
        token = tokens[position]
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.text in self._numbered:
            reading.marks.add(token.text)  # the inches of a screen, the size of a drive
        if after is not None and not token.glued:
            size = None if after.glued else text.spaced_memory(token.text, after.text)
            if size is not None and not _is_rate(tokens, position + 2):
                reading.memory.append((size, inside))
                return position + 2
            reading.count = max(reading.count, count_of_number(reading, position, self._vocabulary))
        if token.glued or (after is not None and after.text in UNITS):
            return position + 1
        end = position + 1
        for family in self._index.numbers.get(token.text, ()):
            if after is None or not after.glued or _is_suffix(after.text, family):
                end = max(
                    end, self._add_mention(reading, family, range(position, position + 1), weak=True, inside=inside)
                )
        return end


def _words_with_a_meaning(index: Index, vocabulary: Vocabulary) -> frozenset[str]:
    return _words_of_names(index).union(vocabulary.marks, text.MEMORY_UNITS, "(),/|", ("ws", "workstation"))


def _words_of_names(index: Index) -> frozenset[str]:
    behind = frozenset(word for family in index.families.values() for word in family.suffixes if not word[0].isdigit())
    steps = frozenset(word for core in index.families for word in core if not word[0].isdigit())
    return behind.union(steps, ALWAYS, GLUED, OPEN_WORDS, ARCHITECTURES, FORM_WORDS, ("s", "maxq", "laptop", "gpu"))


def _is_suffix(word: str, family: Family) -> bool:
    """Whether letters glued to a bare number are a suffix. If not, the number is a processor (7900X, 13900K) or a code."""
    return word in family.suffixes or word in ALWAYS or word in GLUED


def _may_follow(token: Token, family: Family) -> bool:
    """Whether a word such as `a100` is still the family's name if `token` follows it. Only its own suffixes may be glued to
    it: `h100i` is a cooler.
    """
    text = token.text
    return not token.glued or text in family.letters or text[0].isdigit() or (token.live and len(text) > 1)


def _name_number(behind: list[Token]) -> str | None:
    """The number behind the word of a line if both form the name of a card, known or unknown; None otherwise, as for `RTX
    5000 series`.
    """
    if not behind or not behind[0].live or not behind[0].text.isdigit() or len(behind[0].text) not in (3, 4):
        return None
    after = behind[1] if len(behind) > 1 else None
    if after is not None and (after.text in UNITS | _SERIES or (after.glued and not after.live)):  # `RX-675XYJFDE`
        return None
    return behind[0].text


def _is_rate(tokens: list[Token], position: int) -> bool:
    """Whether "/s" follows a size, which is then a bandwidth."""
    return [token.text for token in tokens[position : position + 2]] == ["/", "s"]
