"""Reads a title: finds the families of cards that it names, memory sizes, and words that tell the kind of product."""

from __future__ import annotations

from gpuledger.transform.identity import counts, memory_words, suffixes
from gpuledger.transform.identity.family import OPEN_WORDS, Family, Node
from gpuledger.transform.identity.index import Index
from gpuledger.transform.identity.reading import ARCHITECTURES, FORM_WORDS, Mention, Reading
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import UNITS, Lexicon, Token, Words

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
            reading.count = max(reading.count, counts.of_token(reading, position, self._vocabulary))
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
        run = suffixes.read_suffixes(reading.tokens, family, place.stop, self._vocabulary)
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
            size = None if after.glued else memory_words.spaced(token.text, after.text)
            if size is not None and not _is_rate(tokens, position + 2):
                reading.memory.append((size, inside))
                return position + 2
            reading.count = max(reading.count, counts.of_number(reading, position, self._vocabulary))
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
    return _words_of_names(index).union(vocabulary.marks, memory_words.SPACED_UNITS, "(),/|", ("ws", "workstation"))


def _words_of_names(index: Index) -> frozenset[str]:
    behind = frozenset(word for family in index.families.values() for word in family.suffixes if not word[0].isdigit())
    steps = frozenset(word for core in index.families for word in core if not word[0].isdigit())
    return behind.union(
        steps, suffixes.ALWAYS, suffixes.GLUED, OPEN_WORDS, ARCHITECTURES, FORM_WORDS, ("s", "maxq", "laptop", "gpu")
    )


def _is_suffix(word: str, family: Family) -> bool:
    """Whether letters glued to a bare number are a suffix. If not, the number is a processor (7900X, 13900K) or a code."""
    return word in family.suffixes or word in suffixes.ALWAYS or word in suffixes.GLUED


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
