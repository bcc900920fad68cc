"""Takes the words of titles apart. The tokens of each word are remembered, because titles share most of their words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gpuledger.transform.identity import index, text

#: The end of a part number: `XD54G` means X, D5, 4 GB.
_TYPE_AND_SIZE = re.compile(r"([a-z]*)d([2-6])(\d{1,2})g[a-z]*")
#: A larger number is no count of cards: `64x` is a Vega 64X.
MOST_CARDS = 16
_COUNT = re.compile(r"(\d{1,2})x|x(\d{1,2})")
#: Units: a number with one of these behind it is no model number (`450W`, `192-bit`, `2520MHz`, `850mm`).
UNITS = frozenset((
    "w", "watt", "watts", "mhz", "ghz", "bit", "bits", "mm", "cm", "hz", "rpm", "gbps", "va", "v", "mah", "tb", "fps", "p",
    "k", "dpi", "원", "만원",
))  # fmt: skip
#: Words for graphics, card and both, as languages inflect them: `grafickou kartu`, `kartę graficzną`, `videokarti`.
_CASE = r"(?:a|e|i|u|y|o|ou|om|am|ami|ach|ich|em|en|er|et|es|ej|ego|ico|ica|ice|ya|yat|yak)?"
_INFLECTED = re.compile(rf"(?:(grafi(?:c|ck|cn|czn|sk)|vaizdo)|(kart(?:ic)?|plokst)|(videokart)){_CASE}")
_UNINFLECTED = (None, "graphics", "card", "videocard")
#: Letters that makers write directly before the prefix of a line in part numbers: ENGTX480, NGT440, VCQRTX8000, AXRX5700.
_CODE_HEADS = frozenset(("en", "n", "nb", "ng", "e", "p", "zo", "ax", "vx", "tuf", "ph", "sx", "gv"))


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a title. A piece is `live` if it can mean something to the reader, which skips all others."""

    text: str
    #: No space stands between this piece and the one before: `ti` in `3060ti`, the number in `abc3060`.
    glued: bool = False
    live: bool = False
    memory: float | None = None
    memory_type: str | None = None
    #: The number in a count such as `2x` or `x2`; 0 if the piece is no count.
    count: int = 0
    #: Whether the count is written like `x2`, which stands behind the name that it counts.
    count_behind: bool = False


class Place(NamedTuple):
    """A place in a word that is taken apart into runs of letters and digits."""

    parts: list[str]
    position: int
    #: Whether all pieces before this one in the word are understood.
    known: bool

    @property
    def part(self) -> str:
        """The piece at this place."""
        return self.parts[self.position]

    @property
    def after(self) -> str:
        """The next piece; empty at the end of the word."""
        return self.parts[self.position + 1] if self.position + 1 < len(self.parts) else ""

    @property
    def behind(self) -> str:
        """The piece after the next."""
        return self.parts[self.position + 2] if self.position + 2 < len(self.parts) else ""

    @property
    def glued(self) -> bool:
        """Whether a piece of the same word stands before this one."""
        return self.position > 0


class Taken(NamedTuple):
    """The tokens that a rule makes, from how many pieces, and whether the word is understood so far."""

    tokens: list[Token]
    pieces: int
    known: bool


class Lexicon(NamedTuple):
    """What is known about words before a title is read."""

    #: The words that mean something, and those of them that are parts of names.
    live: frozenset[str]
    names: frozenset[str]
    #: Names of letters and digits in one word (`a100`).
    joined: frozenset[str]
    #: Names with letters behind them (`a10g`: a10, g).
    whole: dict[str, tuple[str, str]]
    #: The prefix and the number of names (rtx, 3060).
    numbered: frozenset[tuple[str, str]]
    #: Other ways of writing a word, and the usual one.
    spelling: dict[str, str]


class Words:
    """Takes words apart, with a lexicon of known words and of names that are letters and digits in one word."""

    #: Most words that are remembered. A shop's titles have some ten thousand; without a limit the memory would only grow.
    CAPACITY = 50_000

    def __init__(self, lexicon: Lexicon) -> None:
        self._live, self._names_only, self._joined, self._whole, self._numbered, self._spelling = lexicon
        self._known: dict[str, tuple[Token, ...]] = {}

    def tokens(self, title: str) -> list[Token]:
        """The tokens of a title."""
        known = self._known
        tokens: list[Token] = []
        for word in text.split_words(text.normalise(title)):
            made = known.get(word)
            if made is None:
                made = self._learn(word)
            tokens += made
        return tokens

    def _learn(self, word: str) -> tuple[Token, ...]:
        if len(self._known) >= self.CAPACITY:
            self._known.clear()
        respelled = self._spelling.get(word)
        tokens = tuple(self.tokens(respelled)) if respelled else tuple(self._analyse(word))
        self._known[word] = tokens
        return tokens

    def _analyse(self, word: str) -> list[Token]:
        if whole := self._whole.get(word):
            memory, kind = text.glued_memory(word) or (
                None,
                None,
            )  # `a10g` is a card, but in a longer code it means 10 GB
            return [Token(whole[0], live=True, memory=memory, memory_type=kind), Token(whole[1], True, live=True)]
        if (counted := _COUNT.fullmatch(word)) and int(counted[1] or counted[2]) <= MOST_CARDS:
            return [Token(word, live=True, count=int(counted[1] or counted[2]), count_behind=bool(counted[2]))]
        if word in text.MEMORY_TYPES:
            return [Token(word, live=True, memory_type=text.MEMORY_TYPES[word])]
        if word in self._joined or word in self._live:
            return [Token(word, live=True)]
        if amount := text.glued_memory(word):
            return [Token(word, live=True, memory=amount[0], memory_type=amount[1])]
        if case := _INFLECTED.fullmatch(word):
            return [Token(_UNINFLECTED[case.lastindex or 1] or word, live=True)]
        return self._pieces(text.pieces(word))

    def _pieces(self, parts: list[str]) -> list[Token]:
        """The tokens of a word, by the first of `RULES` that applies at each place."""
        tokens: list[Token] = []
        position, known = 0, True
        while position < len(parts):
            place = Place(parts, position, known)
            taken = next(taken for rule in RULES if (taken := rule.take(self, place)))
            tokens += taken.tokens
            position, known = position + taken.pieces, taken.known
        return tokens

    def _size(self, place: Place) -> Taken | None:
        if not (place.part[0].isdigit() and place.glued and place.after):
            return None
        longer = text.glued_memory(place.part + place.after + place.behind)
        memory = longer or text.glued_memory(place.part + place.after)
        if memory is None:
            return None
        token = Token(place.part + place.after, True, live=True, memory=memory[0], memory_type=memory[1])
        return Taken([token], 3 if place.behind and longer else 2, place.known)

    def _number(self, place: Place) -> Taken | None:
        if not place.part[0].isdigit():
            return None
        live = place.known and place.after not in UNITS
        return Taken([Token(place.part, place.glued, live=live)], 1, place.known)

    def _type_and_size(self, place: Place) -> Taken | None:
        tail = _TYPE_AND_SIZE.fullmatch(place.part + place.after + place.behind) if place.glued else None
        size = text.spaced_memory(tail[3], "gb") if tail else None
        if tail is None or not size:
            return None
        kind = Token(f"d{tail[2]}", True, live=True, memory_type=text.MEMORY_TYPES[f"d{tail[2]}"])
        letters = [Token(tail[1], True, live=True)] if tail[1] else []
        return Taken([*letters, kind, Token(tail[3], True, live=True, memory=size)], 3, place.known)

    def _memory_type(self, place: Place) -> Taken | None:
        """A type whose name is written out counts anywhere. A short one counts only at the end of the word: in `560d4sfg5`
        the `d4` is the maker's code.
        """
        if not (place.glued and place.known):
            return None
        for count in (3, 2):
            word, end = "".join(place.parts[place.position :][:count]), place.position + count
            if word in text.MEMORY_TYPES and (len(place.part) > 2 or end >= len(place.parts)):
                token = Token(word, True, live=True, memory_type=text.MEMORY_TYPES[word])
                return Taken([token], min(count, len(place.parts) - place.position), True)
        return None

    def _word_of_two(self, place: Place) -> Taken | None:
        word = place.part + place.after
        if not place.after or word not in self._live:
            return None
        return Taken([Token(word, place.glued, live=True)], 2, place.known or not place.glued)

    def _name(self, place: Place) -> Taken | None:
        names = self._names(place.part, place.after) if place.after[:1].isdigit() else []
        tokens = [Token(name, place.glued or bool(number), live=True) for number, name in enumerate(names)]
        return Taken(tokens, 2, True) if tokens else None

    def _name_and_size(self, place: Place) -> Taken | None:
        for digits in (4, 3):
            number, memory = place.after[:digits], text.glued_memory(place.after[digits:] + place.behind)
            if memory and place.after[digits:] and (names := self._names(place.part, number)):
                tokens = [Token(name, place.glued or bool(at), live=True) for at, name in enumerate(names)]
                size = Token(place.after[digits:] + place.behind, True, live=True, memory=memory[0])
                return Taken([*tokens, size], 3, True)
        return None

    def _known_word(self, place: Place) -> Taken | None:
        if place.part not in self._live:
            return None
        return Taken([Token(place.part, place.glued, live=True)], 1, place.known)

    def _glued_names(self, place: Place) -> Taken | None:
        names = self._split(place.part)
        tokens = [Token(name, place.glued or bool(number), live=True) for number, name in enumerate(names)]
        return Taken(tokens, 1, place.known) if tokens else None

    def _glued_behind(self, place: Place) -> Taken | None:
        words = self._behind(place.part, place.after) if place.glued and place.known else []
        if not words:
            return None
        return Taken([Token(word, True, live=True) for word in words], 2 if words[-1][-1].isdigit() else 1, True)

    def _unknown(self, place: Place) -> Taken:
        return Taken([Token(place.part, place.glued)], 1, False)

    def _names(self, letters: str, digits: str) -> list[str]:
        """Split letters and the number behind them into words of a name: `rtxa` `4000` is rtx a4000, `r` `9290` is r9 290.

        Empty if they are no name.
        """
        if letters + digits in self._joined:
            return [letters + digits]
        if letters in index.SEPARATE:
            return [letters, digits]
        if letters[-1] == "r" and digits[0] in "579" and ("r" + digits[0], digits[1:]) in self._numbered:
            return ["r" + digits[0], digits[1:]]
        for size in (1, 2):
            head, tail = letters[:-size], letters[-size:] + digits
            if tail in self._joined and (head in index.SEPARATE or head in _CODE_HEADS):
                return [head, tail] if head in index.SEPARATE else [tail]
        for size in (3, 2):
            head, prefix = letters[:-size], letters[-size:]
            if (prefix, digits) in self._numbered and (
                len(head) > size == 3 or head in _CODE_HEADS or self._split(head)
            ):
                return [*self._split(head), prefix, digits]
        if (split := self._split(letters)) and (split[-1] in index.SEPARATE):
            return [*split, digits]
        return []

    def _behind(self, letters: str, digits: str) -> list[str]:
        """Split letters that are glued behind a number into known words: `sffada`, `dv2` (with digits that belong to it).

        Empty unless every part is known. One letter of a name may stand before the words (`6000dblackwell`).
        """
        for whole in (letters + digits, letters) if digits[:1].isdigit() else (letters,):
            for letter in ("", whole[0]):
                pieces = self._known_words(whole[len(letter) :])
                if pieces and (not letter or letter in self._live):
                    return [letter, *pieces] if letter else pieces
        return []

    def _known_words(self, text: str) -> list[str]:
        if text in self._live and len(text) > 1:
            return [text]
        for end in range(len(text) - 2, 1, -1):
            if text[:end] in self._live and (further := self._known_words(text[end:])):
                return [text[:end], *further]
        return []

    def _split(self, letters: str) -> list[str]:
        """Split glued words of names: `geforcertx` is geforce rtx, `gtxtitanx` gtx titan x. Empty if a part is unknown."""
        for prefix in sorted(index.SEPARATE, key=len, reverse=True):
            if letters.startswith(prefix) and letters != prefix:
                remainder = letters[len(prefix) :]
                if remainder in self._names_only or remainder in index.SEPARATE:  # `product` is no duct
                    return [prefix, remainder]
                if further := self._split(remainder):
                    return [prefix, *further]
        return []


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to take pieces of a word. `take` returns what it makes of them; None if it does not apply."""

    reason: str
    #: A word in which this rule takes a piece.
    case: str
    take: Callable[[Words, Place], Taken | None]


RULES: tuple[Rule, ...] = (
    Rule("a memory size behind other pieces", "3060ti8gb", Words._size),
    Rule("a number: no model if it has a unit or an unknown piece before it", "abc450w", Words._number),
    Rule("memory type and size at the end of a part number", "rx580xd54g", Words._type_and_size),
    Rule("a memory type behind a number", "1650d6", Words._memory_type),
    Rule("a word of letters and digits", "a100sxm4", Words._word_of_two),
    Rule("a name of letters and a number", "engtx480", Words._name),
    Rule("a name with its memory size right behind it", "proartrtx40608g", Words._name_and_size),
    Rule("a known word", "rtx", Words._known_word),
    Rule("words of names that are glued together", "geforcertx", Words._glued_names),
    Rule("words that are glued behind a number", "4000sffada", Words._glued_behind),
    Rule("all else means nothing", "qwertz1", Words._unknown),
)
