"""Reads a title into what it says: families of cards named in it, memory, and marks of what kind of product it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from transform.identity import cores, memory_words
from transform.identity.index import OPEN_WORDS, Family, Index, Node
from transform.identity.vocabulary import Vocabulary
from transform.identity.words import MOST_CARDS, UNITS, Token, Words

#: Suffixes that make another card behind any model number, also where we know no such card.
ALWAYS_SUFFIX = frozenset(("ti", "super", "xt", "xtx", "gre"))
#: Suffixes that are written as one.
_GLUED_SUFFIX = {"tis": ("ti", "super"), "tisuper": ("ti", "super"), "supers": ("super",)}
ARCHITECTURES = frozenset(
    ("ada", "lovelace", "blackwell", "ampere", "turing", "pascal", "volta", "hopper", "maxwell", "kepler")
)
FORM_WORDS = dict.fromkeys(("sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "hgx", "dgx"), "sxm") | {
    "nvl": "nvl",
    "pcie": "pcie",
}
#: May stand inside a name without ending it: "Arc Graphics A770", "Radeon Graphics RX 580", "RTX PRO 6000".
_INSIDE = frozenset(("graphics", "nvidia", "geforce", "radeon", "amd"))
#: Letters that are a card's suffix only directly behind the number, since product lines are full of them.
_LETTERS_ANYWHERE = {
    ("titan",): frozenset("xzv"),
    ("fury",): frozenset("x"),
    ("rtx", "4090"): frozenset("d"),
    ("rtx", "5090"): frozenset("d"),
    ("rtx", "6000"): frozenset("d"),
}
#: `Tri-X`, `Gaming X`: the X is the product line's.
_BEFORE_X = frozenset(("tri", "dual", "vapor", "gaming", "trio", "suprim", "armor", "mech", "ventus"))


@dataclass(slots=True)
class Mention:
    """A family named in the title, with the suffixes behind the name and the words that named it."""

    family: Family
    suffixes: frozenset[str]
    words: str
    start: int
    end: int
    #: Only a bare number or a short code was there: counts where nothing better is in the title.
    weak: bool = False
    in_brackets: bool = False


@dataclass(slots=True)
class Reading:
    """What a title says."""

    tokens: list[Token]
    mentions: list[Mention] = field(default_factory=list)
    #: Memory sizes in GiB, each with whether it stands in brackets.
    memory: list[tuple[float, bool]] = field(default_factory=list)
    #: Sizes that are names too: `a10g` is a card, and in `ROG-STRIX-A10G` 10 GB. They count where a better name is there.
    memory_in_names: list[tuple[float, bool]] = field(default_factory=list)
    memory_types: set[str] = field(default_factory=set)
    #: All words with a meaning that are not part of a mention.
    marks: set[str] = field(default_factory=set)
    makers: set[str] = field(default_factory=set)
    #: Letters directly behind a number, inside a part number: perhaps a suffix, perhaps not.
    letters_in_codes: set[str] = field(default_factory=set)
    #: How many words have no meaning for us.
    noise: int = 0
    count: int = 1

    @property
    def sizes(self) -> frozenset[float]:
        """Memory sizes that can belong to the card: where the card stands in brackets (a system and its card), only those there."""
        brackets = bool(self.mentions) and all(mention.in_brackets for mention in self.mentions)
        return frozenset(size for size, inside in self.memory if inside or not brackets)


class Reader:
    """Reads titles against an index. It learns words as it reads, so every thread needs its own."""

    def __init__(self, index: Index, vocabulary: Vocabulary) -> None:
        self._index = index
        self._vocabulary = vocabulary
        suffixes = frozenset(
            word for family in index.families.values() for word in family.suffixes if not word[0].isdigit()
        )
        steps = frozenset(word for core in index.families for word in core if not word[0].isdigit())
        live = (
            suffixes | steps | vocabulary.marks | ALWAYS_SUFFIX | frozenset(_GLUED_SUFFIX) | OPEN_WORDS | ARCHITECTURES
        )
        live |= frozenset(FORM_WORDS) | memory_words.SPACED_UNITS | frozenset("(),/|") | {"s", "maxq"}
        numbered = frozenset((core[0], core[1]) for core in index.families if len(core) == 2)
        whole = {
            family.core[0] + suffix: (family.core[0], suffix)
            for family in index.families.values()
            if family.joined
            for suffix in family.suffixes
            if suffix.isalpha() and len(suffix) <= 2
        }
        self._words = Words(
            live=live, joined=index.joined, whole=whole, numbered=numbered, spelling=vocabulary.spelling
        )

    def read(self, title: str) -> Reading:
        """The reading of `title`."""
        tokens = self._words.tokens(title)
        reading = Reading(tokens)
        position, depth, count = 0, 0, len(tokens)
        while position < count:
            token = tokens[position]
            if not token.live:
                reading.noise += 1
                position += 1
                continue
            word = token.text
            if word == "(":
                depth += 1
                position += 1
                continue
            if word == ")":
                depth = max(0, depth - 1)
                position += 1
                continue
            maker = self._vocabulary.maker.get(word)
            if maker:
                reading.makers.add(maker)
            node = self._index.start.get(word)
            if node is not None and (after := self._mention(reading, node, position, depth > 0)):
                position = after
                continue
            position = self._mark(reading, position, depth > 0)
        return reading

    def _mark(self, reading: Reading, position: int, inside: bool) -> int:
        """Take note of a token that begins no name; the position behind it."""
        tokens = reading.tokens
        token = tokens[position]
        word = token.text
        if token.memory is not None:
            if not _is_rate(tokens, position + 1):
                reading.memory.append((token.memory, inside))
            if token.memory_type:
                reading.memory_types.add(token.memory_type)
        elif token.memory_type:
            reading.memory_types.add(token.memory_type)
        elif token.count:
            self._count(reading, position)
            if token.count_behind:
                reading.marks.add(word)  # FirePro S7150 x2 is one board
        elif word[0].isdigit():
            return self._number(reading, position, inside)
        elif token.glued and len(word) == 1:
            pass  # the `d` of `3d`, the `x` of `3x`
        else:
            reading.marks.add(word)
        return position + 1

    def _mention(self, reading: Reading, node: Node, position: int, inside: bool) -> int:
        """Follow the cores from `position`; note the longest family found and return the position behind it, else 0."""
        tokens = reading.tokens
        best: Family | None = node.family
        end = here = position + 1
        passed: list[str] = []
        while here < len(tokens):
            word = tokens[here].text
            step = node.after.get(word)
            if step is None:
                # "pro" stands inside RTX PRO 6000 only: Radeon Pro VII is another card than Radeon VII.
                if word in _INSIDE or (word == "pro" and tokens[position].text == "rtx"):
                    passed.append(word)
                    here += 1
                    continue
                break
            node = step
            here += 1
            if node.family is not None:
                best, end = node.family, here
        if best is None:
            return 0
        if best.joined and end < len(tokens) and tokens[end].glued and not _may_follow(tokens[end], best):
            # `h100i` is a cooler, `k2000d` would be another card: letters glued to such a name are part of it.
            return 0
        if "pro" in passed:
            reading.marks.add("pro")
        token = tokens[position]
        if best.short and token.memory is not None:
            reading.memory_in_names.append((token.memory, inside))
        return self._suffixes(reading, best, position, end, weak=best.short, inside=inside)

    def _suffixes(self, reading: Reading, family: Family, start: int, end: int, *, weak: bool, inside: bool) -> int:
        tokens = reading.tokens
        suffixes: set[str] = set()
        while end < len(tokens):
            token = tokens[end]
            word = token.text
            if (
                word in ("super", "ti")
                and word not in family.suffixes
                and end + 1 < len(tokens)
                and tokens[end + 1].text in self._vocabulary.lines_behind.get(word, ())
            ):
                break
            if word in _GLUED_SUFFIX and word not in family.suffixes:
                suffixes.update(_GLUED_SUFFIX[word])
            elif word == "s" and "s" not in family.suffixes and "super" in family.suffixes:
                suffixes.add("super")
            elif word == "m" and token.glued and "m" not in family.suffixes and _ends_word(tokens, end):
                reading.marks.add("mobile")
            elif (
                token.glued
                and len(word) == 1
                and word in family.suffixes
                and not _ends_word(tokens, end)
                and tokens[end + 1].memory_type is None
            ):
                reading.letters_in_codes.add(word)  # `RX-560D4SFG5`: the D may be part of the code
                break
            elif (
                word in family.suffixes
                and (len(word) > 1 or token.glued or word in "xdvz")
                and token.memory_type is None
            ) or word in ALWAYS_SUFFIX:
                suffixes.add(word)
            elif token.glued and (found := _suffix_within(word)):
                suffixes.update(found)
            elif word in self._vocabulary.mobile or word == "maxq":
                reading.marks.add(word)
            else:
                break
            end += 1
        words = " ".join(token.text for token in tokens[start:end])
        reading.mentions.append(Mention(family, frozenset(suffixes), words, start, end, weak, inside))
        return end

    def _number(self, reading: Reading, position: int, inside: bool) -> int:
        """A number: with a unit behind it a memory size, else perhaps a model number without its prefix."""
        tokens = reading.tokens
        token = tokens[position]
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if after is not None and not after.glued and after.text in memory_words.SPACED_UNITS:
            size = memory_words.spaced(token.text, after.text)
            if size is not None and not _is_rate(tokens, position + 2):
                reading.memory.append((size, inside))
                return position + 2
        if token.text in self._vocabulary.laptop:
            reading.marks.add(token.text)  # the inches of a screen
        if after is not None and token.text.isdigit() and (after.text == "x" or after.text in ("gpu", "gpus")) and 1 < int(token.text) <= MOST_CARDS:
            if after.text != "x" or position == 0 or tokens[position - 1].text in self._vocabulary.before_count:
                reading.count = int(token.text)
        if token.glued or (after is not None and after.text in UNITS):
            return position + 1
        end = position + 1
        for family in self._index.numbers.get(token.text, ()):
            if (
                after is not None
                and after.glued
                and not (after.text in family.suffixes or after.text in ALWAYS_SUFFIX or after.text in _GLUED_SUFFIX)
            ):
                continue  # a processor: 7900X, 13900K
            end = max(end, self._suffixes(reading, family, position, position + 1, weak=True, inside=inside))
        return end

    def _count(self, reading: Reading, position: int) -> None:
        """`2x` at the start or behind "with", `x2` directly behind a name: several cards. Elsewhere fans, lanes or outputs."""
        tokens = reading.tokens
        token = tokens[position]
        if token.count < 2:
            return
        if token.count_behind:
            behind = next((mention for mention in reversed(reading.mentions) if not mention.weak), None)
            named = behind is not None and all(
                tokens[here].memory
                or tokens[here].memory_type
                or tokens[here].text in FORM_WORDS
                or tokens[here].text == ")"
                for here in range(behind.end, position)
            )
            if named and not any(tokens[here].text in self._vocabulary.fans_behind_name for here in range(len(tokens))):
                reading.count = token.count
        elif (
            position == 0
            or tokens[position - 1].text in self._vocabulary.before_count
            or tokens[position - 1].text == "("
        ):
            reading.count = token.count


def letters_anywhere(reading: Reading, family: Family) -> set[str]:
    """Single letters that stand apart from the number and yet may be its suffix (`D ... RTX 4090`)."""
    wanted = _LETTERS_ANYWHERE.get(family.core)
    if not wanted:
        return set()
    found = set()
    for position, token in enumerate(reading.tokens):
        if token.text in wanted and not token.glued:
            before = reading.tokens[position - 1].text if position else ""
            if token.text != "x" or before not in _BEFORE_X:
                found.add(token.text)
    return found


def _suffix_within(word: str) -> tuple[str, ...]:
    """The suffix that glued letters begin with, where short codes follow: `tib` (Ti Boost), `xtcld`; empty where none does."""
    for start, meant in (
        ("tis", ("ti", "super")),
        ("ti", ("ti",)),
        ("super", ("super",)),
        ("xtx", ("xtx",)),
        ("xt", ("xt",)),
        ("gre", ("gre",)),
    ):
        if word.startswith(start) and word not in cores.SEPARATE:
            return meant
    return ()


def _may_follow(token: Token, family: Family) -> bool:
    """Whether a piece glued behind `a100` leaves it that name: its suffix, a number, or a word of its own (`h100nvl`)."""
    return token.text in family.letters or token.text[0].isdigit() or (token.live and len(token.text) > 1)


def _is_rate(tokens: list[Token], position: int) -> bool:
    """Whether "/s" follows: then the size was a bandwidth."""
    texts = [token.text for token in tokens[position : position + 2]]
    return texts == ["/", "s"]


def _ends_word(tokens: list[Token], position: int) -> bool:
    return position + 1 >= len(tokens) or not tokens[position + 1].glued
