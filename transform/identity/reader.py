"""Reads a title: the cards that it names, memory sizes, words for kinds of products, and how many cards its numbers mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity import text
from gpuledger.transform.identity.index import OPEN_WORDS, Family, Index, Node
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import MOST_CARDS, UNITS, Lexicon, Token, Words

ARCHITECTURES = frozenset(
    ("ada", "lovelace", "blackwell", "ampere", "turing", "pascal", "volta", "hopper", "maxwell", "kepler")
)
#: How a server card is mounted: the word that shops use, and the word of the catalogue for it.
FORM_WORDS = {
    **dict.fromkeys(("sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "hgx", "dgx"), "sxm"),
    "nvl": "nvl",
    "pcie": "pcie",
}


@dataclass(slots=True)
class Mention:
    """A family that the title names. `spelled` are the words that name it, at the tokens from `start` to before `end`."""

    family: Family
    suffixes: frozenset[str]
    spelled: str
    start: int
    end: int
    #: The title has only a bare number or a short code. Such a mention counts only if the title has no better one.
    weak: bool = False
    in_brackets: bool = False


@dataclass(slots=True)
class Reading:
    """Everything that a title says."""

    tokens: list[Token]
    #: What its reader knew.
    index: Index = field(repr=False)
    vocabulary: Vocabulary = field(repr=False)
    #: Letters of the title.
    letters: int = 0
    mentions: list[Mention] = field(default_factory=list)
    #: Memory sizes in GiB, and whether each one stands in brackets.
    memory: list[tuple[float, bool]] = field(default_factory=list)
    #: Sizes that may also be names: `a10g` is a card, but in `ROG-STRIX-A10G` it means 10 GB. They count as sizes if the
    #: title has a better name.
    memory_in_names: list[tuple[float, bool]] = field(default_factory=list)
    #: Sizes with a slash between them, of which the buyer gets one: `8/16GB`, `4GB/8GB`.
    memory_by_choice: set[float] = field(default_factory=set)
    memory_types: set[str] = field(default_factory=set)
    #: All words with a meaning that are not part of a mention.
    marks: set[str] = field(default_factory=set)
    #: Names of a line's prefix and a number that no card of the catalogue has: `rtx 5065`.
    unknown_names: list[str] = field(default_factory=list)
    makers: set[str] = field(default_factory=set)
    #: Letters directly behind a number inside a part number, which may or may not be a suffix.
    letters_in_codes: set[str] = field(default_factory=set)
    #: How many words mean nothing to the reader.
    noise: int = 0
    #: How many cards the title sells.
    count: int = 1
    #: The title is a cloud's name for what it rents: always about GPUs, and often without the edition.
    rented: bool = False

    @property
    def words(self) -> list[str]:
        """The texts of the tokens."""
        return [token.text for token in self.tokens]

    @property
    def sizes(self) -> frozenset[float]:
        """Memory sizes that can be the card's. If the card stands in brackets (a system and its card), only the sizes in
        brackets can be.
        """
        brackets = bool(self.mentions) and all(mention.in_brackets for mention in self.mentions)
        return frozenset(size for size, inside in self.memory if inside or not brackets)


#: Words for numbers of cards.
HOW_MANY = {"single": 1, "dual": 2, "twin": 2, "triple": 3, "quad": 4, "octa": 8, "two": 2, "four": 4, "eight": 8}
#: More than the fans of a cooler. From this number on, a count before a chip's name is of cards, anywhere in the title
#: (`SYS-821GE-TNHR 8x H100`).
_MORE_THAN_FANS = 4
#: Words before a number of lanes or a bus rate: `AGP 8x GeForce 6200`.
_SLOTS = frozenset(("agp", "pci", "pcie", "express", "e", "gen", "speed"))
#: Video sockets: a number before one of them counts sockets, not cards.
SOCKETS = frozenset(("displayport", "dp", "mdp", "mini", "minidp", "hdmi", "dvi", "usb"))
_SETS = frozenset(("set", "lot", "pack", "bundle", "box", "case"))


def count_of_token(reading: Reading, position: int) -> int:
    """How many cards the count at `position` (`2x`, `x2`) means; 1 if it counts something else."""
    token = reading.tokens[position]
    if _of_fans(reading, position, position + 1):
        return 1
    behind = token.count_behind and position  # `x4 RTX 3080` counts as `4x RTX 3080` does
    counts = _behind_a_name(reading, position) if behind else _begins(reading, position)
    lanes = token.count_behind and (
        token.count == MOST_CARDS or _behind_a_slot(reading, position)
    )  # PCIe x16, PCIe 4.0 x8
    after = reading.tokens[position + 1].text if position + 1 < len(reading.tokens) else ""
    on_board = (one.gpu.gpus_on_board for mention in reading.mentions for one in mention.family.members)
    if after in SOCKETS or (text.glued_memory(after) and token.count in on_board):  # `A16 64GB (4x 16GB)`
        return 1
    return token.count if counts and token.count > 1 and not lanes else 1


def count_of_number(reading: Reading, position: int) -> int:
    """How many cards a number with a separate word behind it means (`4 x Tesla V100`, `8-GPU`); 1 if it counts no cards."""
    number, after = reading.tokens[position : position + 2]
    if not number.text.isdigit() or not 1 < int(number.text) <= MOST_CARDS:
        return 1
    if _of_fans(reading, position, position + 2):
        return 1
    versioned = (
        reading.tokens[position - 1].text in reading.vocabulary.versions and position
    )  # `DLSS 3 GPU` is one card
    if after.text in ("gpu", "gpus") and (_behind_a_slot(reading, position) or versioned):
        return 1
    times = after.text == "x" and not after.glued and _begins(reading, position)  # not `4X61C56103`
    before = [token.text for token in reading.tokens[max(0, position - 2) : position]]
    of_a_set = before[-1:] == ["of"] and before[0] in _SETS  # `Set of 2 RTX 3090`
    is_said = times or of_a_set or after.text in ("gpu", "gpus") or is_of_units(reading, position)
    return int(number.text) if is_said else 1


def is_of_units(reading: Reading, position: int) -> bool:
    """Whether a number has a unit of sale behind it (`4 pcs`, `6st`), and not the end of a code (`NV4080-16ST`) or what is
    in stock (`3 pcs available, price each`).
    """
    number, after = reading.tokens[position : position + 2]
    if after.text not in reading.vocabulary.units or not reading.vocabulary.each.isdisjoint(reading.words):
        return False
    named = any(mention.start < position <= mention.end for mention in reading.mentions)
    before = reading.tokens[position - 1] if position else Token("")
    return named or not (number.glued or (after.glued and before.glued and before.text.isdigit()))


def cards_before(reading: Reading, mention: Mention) -> int:
    """The number of cards before a chip's name, anywhere in the title; 1 if the number may be of fans.

    Cards for servers and workstations have no coolers with several fans, so any number before such a card counts cards.
    """
    place, number = before_name(reading, mention)
    game_card = mention.weak or any(member.gpu.segment == "consumer" for member in mention.family.members)
    in_words = reading.tokens[place].text in HOW_MANY  # `ASUS DUAL-A4000`: ASUS writes cards with two fans this way too
    of_cards = number >= _MORE_THAN_FANS or (number > 1 and not game_card and not in_words)
    return number if of_cards and not (place and reading.tokens[place - 1].text in _SLOTS) else 1


def before_name(reading: Reading, mention: Mention) -> tuple[int, int]:
    """The position and value of a number directly before a chip's name (and its maker's name); 0 and 0 if there is none."""
    tokens, start = reading.tokens, mention.start
    while start > 0 and (
        tokens[start - 1].text in reading.vocabulary.maker or tokens[start - 1].text in reading.vocabulary.graphics
    ):
        start -= 1
    if start == 0:
        return 0, 0
    place = start - 1
    apart = tokens[place].text in ("x", ")") and place > 0
    if apart:
        place -= 1
    before = tokens[place]
    if before.count and not before.count_behind:
        return place, before.count
    if before.text in HOW_MANY:
        return place, HOW_MANY[before.text]
    if apart and before.text.isdigit() and int(before.text) <= MOST_CARDS:
        return place, int(before.text)
    return 0, 0


def _of_fans(reading: Reading, start: int, end: int) -> bool:
    """Whether the count from `start` to `end` counts fans (`x3 fan`, `팬 3개`). `3팬 2개` are two cards with three fans."""
    vocabulary = reading.vocabulary
    tokens = [token.text for token in reading.tokens]
    if tokens[end : end + 1] and tokens[end] in vocabulary.fans:
        return True
    behind = start > 0 and tokens[start - 1] in vocabulary.fans
    return behind and not (start > 1 and (tokens[start - 2].isdigit() or tokens[start - 2] in vocabulary.fan_counts))


def _begins(reading: Reading, position: int) -> bool:
    """Whether a count stands at the start of the title or behind "with" or "lot of": there it counts the product sold."""
    if position == 0:
        return True
    before = reading.tokens[position - 1].text
    return before in reading.vocabulary.before_count or before == "("


def _behind_a_slot(reading: Reading, position: int) -> bool:
    """Whether a slot stands before a count, perhaps with its version: `PCIe x8`, `PCIe 4.0 x8`, `PCIe Gen 4 x8`."""
    before = [token.text for token in reading.tokens[max(0, position - 3) : position]]
    while before and (before[-1].replace(".", "").isdigit() or before[-1] in ("gen", "v", "x")):
        before.pop()
    return bool(before) and before[-1] in _SLOTS


def _behind_a_name(reading: Reading, position: int) -> bool:
    """Whether a count stands directly behind a card's name and memory, one of more than fans anywhere behind it, except
    behind sockets and slots. False for board makers who count their fans there.
    """
    last_mention = next(
        (mention for mention in reversed(reading.mentions) if not mention.weak or mention.family.joined), None
    )
    if last_mention is None or any(token.text in reading.vocabulary.fans_behind_name for token in reading.tokens):
        return False
    between = reading.tokens[last_mention.end : position]
    if reading.tokens[position].count >= _MORE_THAN_FANS:
        return all(token.text not in SOCKETS and token.text not in _SLOTS for token in between)
    return all(token.memory or token.memory_type or token.text in FORM_WORDS or token.text in "()" for token in between)


# ── words behind a number ───────────────────────────────────────────────────────────────────────────────────────────────

#: Words that make another card behind any model number, even if we know no such card.
ALWAYS = frozenset(("ti", "super", "xt", "xtx", "gre"))
#: Words that stand for one or more suffixes.
GLUED = {
    "ts": ("ti", "super"),
    "tis": ("ti", "super"),
    "tisp": ("ti", "super"),
    "tisuper": ("ti", "super"),
    "supers": ("super",),
}
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
        # Add a suffix of the family. A single letter counts only if the rest of a part number does not follow it.
        if len(token.text) == 1:
            if token.glued and not _ends_word(after) and after is not None and after.memory_type is None:
                run.in_code.add(token.text)
                return False
            if not token.glued and token.text not in _APART:
                return False
        if word == "dual":  # a line of coolers too: the memory size tells `B60 Dual 48GB`
            return False
        run.suffixes.add(token.text)
        return True
    elif word in ALWAYS:
        run.suffixes.add(word)
    elif (token.glued or _ends_in_a_line(word, vocabulary)) and (
        meant := next((meant for start, meant in _BEGINNINGS if word.startswith(start)), ())
    ):
        run.suffixes.update(meant)
    elif word in vocabulary.mobile or word == "maxq":
        run.marks.add(word)
    else:
        return False
    return True


def _ends_in_a_line(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a suffix is glued to the word of a maker's line: `XTELITE`, `TIGAMING`, `SUPEROC`, not `XTREME`."""
    if len(word) < 3 or any(map(word.startswith, vocabulary.not_glued)):
        return False
    rests = (word[len(start) :] for start, _ in _BEGINNINGS if word.startswith(start))
    return word.startswith("xt") or any(rest.startswith(line) for rest in rests for line in vocabulary.card_lines)


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
LINES = frozenset(("rtx", "gtx", "rx"))
#: What separates the cards of one line.
_BETWEEN_NAMES = frozenset(("/", "|", ",", "and", "or", "und", "oder", "et", "y", "e", "i"))
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
        names = _words_of_names(index)
        live = names.union(vocabulary.marks, text.MEMORY_UNITS, "(),/|", ("ws", "workstation"))
        self._words = Words(Lexicon(live, names, index.joined, whole, numbered, vocabulary.spelling))
        begin = vocabulary.maker.keys() | index.start.keys() | LINES
        #: Words that are noted as they are, because no name and no number begins with them.
        self._simple = frozenset(word for word in live - begin if word.isalpha() and word not in text.MEMORY_TYPES)

    def read_title(self, title: str) -> Reading:
        """The reading of `title`."""
        tokens = self._words.tokens(title)
        reading = Reading(tokens, self._index, self._vocabulary, len(title))
        position, depth, count = 0, 0, len(tokens)
        simple, marks = self._simple, reading.marks
        while position < count:
            token = tokens[position]
            word = token.text
            if not token.live:
                reading.noise += 1
                position += 1
                continue
            if word in simple and not token.glued:
                marks.add(word)
                position += 1
                continue
            if word in "()":
                depth = depth + 1 if word == "(" else max(0, depth - 1)
                position += 1
                continue
            if maker := self._vocabulary.maker.get(word):
                reading.makers.add(maker)
            node = self._index.start.get(word)
            if node is not None and (after := self._read_name(reading, node, position, depth > 0)):
                position = self._read_more_names(reading, after, depth > 0)
                continue
            if word in LINES:
                behind = [token for token in tokens[position + 1 : position + 4] if token.text != "pro"]
                if number := _name_number(behind):
                    reading.unknown_names.append(f"{word} {number}")
            position = self._read_mark(reading, position, depth > 0)
        if reading.memory and "/" in reading.words:
            _note_choice(reading)
        words = self._vocabulary
        if not words.denying.isdisjoint(texts := reading.words):  # `not a laptop part`
            denied = {word for at, no in enumerate(texts) if no in words.denying for word in texts[at + 1 : at + 3]}
            marks -= denied & (words.mobile | words.laptop)
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
            reading.count = max(reading.count, count_of_token(reading, position))
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

    def _read_more_names(self, reading: Reading, position: int, inside: bool) -> int:
        """Note further cards of the same line, which leave it out (`RTX 4070/4080`, `RTX 5070 | 5080`, `RX 7600 7700XT`).

        Returns the position behind them. A number that no card has counts as an unknown name behind a slash only.
        """
        tokens, core = reading.tokens, reading.mentions[-1].family.core
        while core[0] in LINES and position < len(tokens):
            slash = tokens[position].text == "/"
            start = position + (tokens[position].text in _BETWEEN_NAMES)
            number = _name_number(tokens[start : start + 3])
            if number is None or len(number) != len(core[-1]) or tokens[start].glued:
                break
            family = self._index.families.get((core[0], number))
            if family is None:
                if not slash:
                    break
                reading.unknown_names.append(f"{core[0]} {number}")
                return position + 2
            position = self._add_mention(reading, family, range(start, start + 1), weak=False, inside=inside)
        return position

    def _add_mention(self, reading: Reading, family: Family, place: range, *, weak: bool, inside: bool) -> int:
        """Note that the tokens at `place` name `family`; returns the position behind the suffixes."""
        run = Suffixes(place.stop)
        while run.end < len(reading.tokens) and _take(reading.tokens, run, family, self._vocabulary):
            run.end += 1
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
        if is_mark := token.text in self._numbered:
            reading.marks.add(token.text)  # the inches of a screen, the size of a drive
        if after is not None and not token.glued:
            size = None if after.glued or is_mark else text.spaced_memory(token.text, after.text)
            if size is not None and not _is_rate(tokens, position + 2):
                reading.memory.append((size, inside))
                return position + 2
            reading.count = max(reading.count, count_of_number(reading, position))
        if token.glued or (after is not None and after.text in UNITS):
            return position + 1
        end = position + 1
        for family in self._index.numbers.get(token.text, ()):
            if after is None or not after.glued or _is_suffix(after.text, family):
                end = max(
                    end, self._add_mention(reading, family, range(position, position + 1), weak=True, inside=inside)
                )
        return end


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


def _note_choice(reading: Reading) -> None:
    """Note the sizes on both sides of a slash. The first may leave out its unit, and is then only a number: `8/16GB`."""
    tokens = [Token(""), *reading.tokens, Token(""), Token("")]
    named = {place for mention in reading.mentions for place in range(mention.start, mention.end)}
    for place, token in enumerate(reading.tokens):
        before, (after, unit) = tokens[place], tokens[place + 2 : place + 4]
        second = after.memory or _spaced(after, unit)
        if token.text != "/" or not second:
            continue
        first = before.memory or _spaced(tokens[place - 1], before)
        if not first and place - 1 not in named and (first := _spaced(before, Token("gb"))):
            reading.memory.append((first, False))
        if first and first != second:
            reading.memory_by_choice |= {first, second}


def _spaced(number: Token, unit: Token) -> float | None:
    """The memory size (GiB) of a number and its unit, two words of a title; None if they are none."""
    is_number = number.text.isdecimal() and not number.glued and not unit.glued
    return text.spaced_memory(number.text, unit.text) if is_number else None


def _is_rate(tokens: list[Token], position: int) -> bool:
    """Whether "/s" follows a size, which is then a bandwidth."""
    return [token.text for token in tokens[position : position + 2]] == ["/", "s"]
