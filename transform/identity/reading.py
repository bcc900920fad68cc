"""Reads a title into what it says: mentions of card families, memory, and marks of what kind of product it is.

A word is analysed once and remembered, since titles share most of their words; reading a title is then one pass over a short
list. That, and not a pattern for every card, is what makes tens of thousands of titles a second possible.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from transform.identity import memory_words, text, vocabulary
from transform.identity.index import OPEN_WORDS, SEPARATE, Family, Index, Node

#: Suffixes that make another card wherever they stand behind a model number, even if we know no such card.
ALWAYS_SUFFIX = frozenset(("ti", "super", "xt", "xtx", "gre", "tis"))
#: Suffixes of one letter, and words of one letter: too common in product lines to mean anything away from the number.
_SPLIT_SUFFIX = {"tis": ("ti", "super"), "tisuper": ("ti", "super"), "xtxt": ("xt",)}
#: `Super` of these is a product line: JetStream, Overclock, Alloy Power, Clocked.
_SUPER_LINES = frozenset(("jetstream", "overclock", "overclocked", "alloy", "clocked", "compound", "js"))
_ARCHITECTURES = frozenset(
    ("ada", "blackwell", "ampere", "turing", "pascal", "volta", "hopper", "maxwell", "kepler", "lovelace")
)
_FORM_WORDS = {
    "sxm": "sxm",
    "sxm2": "sxm",
    "sxm3": "sxm",
    "sxm4": "sxm",
    "sxm5": "sxm",
    "hgx": "sxm",
    "dgx": "sxm",
    "nvl": "nvl",
    "pcie": "pcie",
}


@dataclass(slots=True)
class Token:
    """One piece of a title. Only what is not noise has a `role`."""

    text: str
    #: Glued to the piece before, as `ti` in `3060ti`.
    glued: bool = False
    memory: float | None = None
    memory_type: str | None = None
    #: True where the token needs a look at all.
    live: bool = False


@dataclass(slots=True)
class Mention:
    """A family named in the title, with the suffixes that stand behind it. `weak` where only a bare number was there."""

    family: Family
    suffixes: frozenset[str]
    words: str
    position: int
    weak: bool = False


@dataclass(slots=True)
class Reading:
    """What a title says."""

    title: str
    tokens: list[Token]
    mentions: list[Mention] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    memory_types: set[str] = field(default_factory=set)
    #: All tokens that are not noise, for the marks (laptop, ssd, for, ...).
    marks: set[str] = field(default_factory=set)
    vendors: set[str] = field(default_factory=set)
    noise: int = 0


class Reader:
    """Reads titles against an index. Not safe to share between threads while it learns new words; use one for each."""

    #: Words kept analysed. Titles of a shop have some ten thousand different words; beyond that, memory would only grow.
    CAPACITY = 60_000

    def __init__(self, index: Index) -> None:
        self._index = index
        self._vocabulary = vocabulary.load()
        self._known: dict[str, tuple[Token, ...]] = {}
        words = self._vocabulary
        self._marks: frozenset[str] = frozenset().union(
            words.mobile, words.accessory, words.accessory_unless_card, words.accessory_maker, words.laptop, words.computer,
            words.processor, words.computer_beside, words.enclosure, words.other, words.purpose, words.broken, words.board_maker,
            words.several, words.plain,
        )  # fmt: skip
        suffixes = frozenset(word for family in index.families.values() for word in family.suffixes)
        self._live = (
            suffixes
            | self._marks
            | ALWAYS_SUFFIX
            | OPEN_WORDS
            | _ARCHITECTURES
            | frozenset(_FORM_WORDS)
            | frozenset(index.start)
        )
        self._live |= (
            frozenset(words.vendor) | memory_words.SPACED_UNITS | frozenset(memory_words.TYPES) | frozenset("(,/|")
        )

    def read(self, title: str) -> Reading:
        """The reading of `title`."""
        known = self._known
        tokens: list[Token] = []
        for word in text.words(text.normalise(title)):
            found = known.get(word)
            if found is None:
                found = self._learn(word)
            tokens += found
        reading = Reading(title, tokens)
        self._scan(reading)
        return reading

    def _learn(self, word: str) -> tuple[Token, ...]:
        if len(self._known) >= self.CAPACITY:
            self._known.clear()
        tokens = tuple(self._analyse(word))
        self._known[word] = tokens
        return tokens

    def _analyse(self, word: str) -> list[Token]:
        if word in memory_words.TYPES:
            return [Token(word, memory_type=memory_words.TYPES[word], live=True)]
        if word in self._live and not word[0].isdigit():
            return [Token(word, live=True)]
        if found := memory_words.glued(word):
            return [Token(word, memory=found[0], memory_type=found[1], live=True)]
        tokens: list[Token] = []
        parts = text.pieces(word)
        position = 0
        while position < len(parts):
            part = parts[position]
            following = parts[position + 1] if position + 1 < len(parts) else ""
            if part.isalpha() and following and following[0].isdigit():
                head, tail = self._split_prefix(part, following)
                if head:
                    tokens.append(Token(head, bool(tokens), live=True))
                if tail:
                    tokens.append(Token(tail, bool(tokens), live=True))
                    position += 2
                    continue
                if not head:
                    # A code such as `vcg4090`: the number behind unknown letters names no model by itself.
                    tokens.append(Token(part + following, bool(tokens)))
                    position += 2
                    continue
                position += 1
                continue
            tokens.append(Token(part, bool(tokens), live=part[0].isdigit() or part in self._live))
            position += 1
        return tokens

    def _split_prefix(self, letters: str, digits: str) -> tuple[str, str]:
        """`rtx` `4090` gives (rtx, ""); `rtxa` `4000` gives (rtx, a4000); `a` `100` gives ("", a100); `vcg` `4090` gives nothing."""
        joined = self._index.joined
        if letters + digits in joined:
            return "", letters + digits
        if letters in SEPARATE:
            return letters, ""
        for size in (1, 2):
            head, tail = letters[:-size], letters[-size:] + digits
            if head in SEPARATE and tail in joined:
                return head, tail
        for prefix in ("geforcertx", "geforcegtx", "geforcegt", "radeonrx", "nvidiartx"):
            if letters == prefix:
                return prefix.removeprefix("geforce").removeprefix("radeon").removeprefix("nvidia"), ""
        return "", ""

    def _scan(self, reading: Reading) -> None:
        tokens = reading.tokens
        start = self._index.start
        vendor = self._vocabulary.vendor
        position, count = 0, len(tokens)
        while position < count:
            token = tokens[position]
            if not token.live:
                reading.noise += 1
                position += 1
                continue
            word = token.text
            if token.memory is not None:
                if not (position + 1 < count and tokens[position + 1].text == "s"):
                    reading.memory.append(token.memory)
                if token.memory_type:
                    reading.memory_types.add(token.memory_type)
                position += 1
                continue
            if token.memory_type:
                reading.memory_types.add(token.memory_type)
                reading.marks.add(word)
                position += 1
                continue
            if word in vendor:
                reading.vendors.add(vendor[word])
            node = start.get(word)
            if node is not None:
                after = self._mention(reading, node, position)
                if after:
                    position = after
                    continue
            if word[0].isdigit():
                position = self._number(reading, position)
                continue
            reading.marks.add(word)
            position += 1

    def _mention(self, reading: Reading, node: Node, position: int) -> int:
        """Follow the trie from `position`; record the longest family found and return the position behind it, else 0."""
        tokens = reading.tokens
        best: Family | None = None
        end = here = position + 1
        while True:
            found = node.get("")
            if isinstance(found, Family):
                best, end = found, here
            following = node.get(tokens[here].text) if here < len(tokens) else None
            # Silent words may stand inside a name: "RTX (TM) 3060", "Radeon RX Vega 64", "RTX PRO 6000", "Arc Graphics A770".
            while (
                not isinstance(following, dict)
                and here < len(tokens)
                and tokens[here].text in ("pro", "graphics", "nvidia", "geforce", "radeon")
            ):
                here += 1
                following = node.get(tokens[here].text) if here < len(tokens) else None
            if not isinstance(following, dict):
                break
            node = following
            here += 1
        if best is None:
            return 0
        if "pro" in (token.text for token in tokens[position:end]):
            reading.marks.add("pro")
        return self._suffixes(reading, best, position, end, weak=False)

    def _suffixes(self, reading: Reading, family: Family, position: int, end: int, *, weak: bool) -> int:
        tokens = reading.tokens
        suffixes: set[str] = set()
        while end < len(tokens):
            token = tokens[end]
            word = token.text
            if (
                word == "super"
                and "super" not in family.suffixes
                and end + 1 < len(tokens)
                and tokens[end + 1].text in _SUPER_LINES
            ):
                break
            if token.glued and word == "s" and "s" not in family.suffixes and "super" in family.suffixes:
                suffixes.add("super")
            elif token.glued and word == "m":
                reading.marks.add("mobile")
            elif word in _SPLIT_SUFFIX:
                suffixes.update(_SPLIT_SUFFIX[word])
            elif (word in family.suffixes and word not in memory_words.TYPES) or word in ALWAYS_SUFFIX:
                suffixes.add(word)
            elif word in ("maxq", "mobile", "laptop"):
                reading.marks.add(word)
            else:
                break
            end += 1
        words = " ".join(token.text for token in tokens[position:end])
        reading.mentions.append(Mention(family, frozenset(suffixes), words, position, weak))
        return end

    def _number(self, reading: Reading, position: int) -> int:
        """A number: with a unit behind it a memory size, else perhaps a model number without its prefix."""
        tokens = reading.tokens
        token = tokens[position]
        if position + 1 < len(tokens):
            following = tokens[position + 1]
            if following.text in memory_words.SPACED_UNITS and not following.glued:
                size = memory_words.spaced(token.text, following.text)
                per_second = position + 2 < len(tokens) and tokens[position + 2].text in ("s", "/")
                if size is not None and not per_second:
                    reading.memory.append(size)
                    return position + 2
        if token.glued:
            return position + 1
        for family in self._index.numbers.get(token.text, ()):
            self._suffixes(reading, family, position, position + 1, weak=True)
        return position + 1
