"""Takes the words of titles apart. The tokens of each word are remembered, because titles share most of their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from gpuledger.transform.identity import cores, memory_words, text

#: The end of a part number: `XD54G` means X, D5, 4 GB.
_TYPE_AND_SIZE = re.compile(r"([a-z]*)d([2-6])(\d{1,2})g[a-z]*")
#: A larger number is no count of cards: `64x` is a Vega 64X.
MOST_CARDS = 16
_COUNT = re.compile(r"(\d{1,2})x|x(\d{1,2})")
#: Units: a number with one of these behind it is no model number (`450W`, `192-bit`, `2520MHz`, `850mm`).
UNITS = frozenset(
    (
        "w",
        "watt",
        "watts",
        "mhz",
        "ghz",
        "bit",
        "bits",
        "mm",
        "cm",
        "hz",
        "rpm",
        "gbps",
        "va",
        "v",
        "mah",
        "tb",
        "fps",
        "p",
        "k",
        "dpi",
        "원",
        "만원",
    )
)
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


def _memory_type(parts: list[str], position: int) -> tuple[str, int] | None:
    """The memory type that is glued behind a number (`1650gddr6`, `1650d6`, `3060tigddr6x`), and its number of pieces.

    A type whose name is written out counts anywhere. A short one counts only at the end of the word: in `560d4sfg5` the
    `d4` is the maker's code.
    """
    for count in (3, 2):
        word = "".join(parts[position : position + count])
        if word in memory_words.TYPES and (len(parts[position]) > 2 or position + count >= len(parts)):
            return word, min(count, len(parts) - position)
    return None


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
            memory, kind = memory_words.glued(word) or (
                None,
                None,
            )  # `a10g` is a card, but in a longer code it means 10 GB
            return [Token(whole[0], live=True, memory=memory, memory_type=kind), Token(whole[1], True, live=True)]
        if (counted := _COUNT.fullmatch(word)) and int(counted[1] or counted[2]) <= MOST_CARDS:
            return [Token(word, live=True, count=int(counted[1] or counted[2]), count_behind=bool(counted[2]))]
        if word in memory_words.TYPES:
            return [Token(word, live=True, memory_type=memory_words.TYPES[word])]
        if word in self._joined or word in self._live:
            return [Token(word, live=True)]
        if amount := memory_words.glued(word):
            return [Token(word, live=True, memory=amount[0], memory_type=amount[1])]
        return self._pieces(text.pieces(word))

    def _pieces(self, parts: list[str]) -> list[Token]:
        tokens: list[Token] = []
        known = True  # whether all pieces before this one in the word are understood
        position = 0
        while position < len(parts):
            part = parts[position]
            after = parts[position + 1] if position + 1 < len(parts) else ""
            behind = parts[position + 2] if position + 2 < len(parts) else ""
            glued = bool(tokens)
            if part[0].isdigit():
                if (
                    glued
                    and after
                    and (memory := memory_words.glued(part + after + behind) or memory_words.glued(part + after))
                ):
                    tokens.append(Token(part + after, glued, live=True, memory=memory[0], memory_type=memory[1]))
                    position += 3 if behind and memory_words.glued(part + after + behind) else 2
                    continue
                tokens.append(Token(part, glued, live=known and after not in UNITS))
            elif (
                glued
                and (tail := _TYPE_AND_SIZE.fullmatch(part + after + behind))
                and (size := memory_words.spaced(tail[3], "gb"))
            ):
                if tail[1]:
                    tokens.append(Token(tail[1], glued, live=True))
                tokens.append(Token(f"d{tail[2]}", glued, live=True, memory_type=memory_words.TYPES[f"d{tail[2]}"]))
                tokens.append(Token(tail[3], glued, live=True, memory=size))
                position += 3
                continue
            elif glued and known and (kind := _memory_type(parts, position)):
                tokens.append(Token(kind[0], glued, live=True, memory_type=memory_words.TYPES[kind[0]]))
                position += kind[1]
                continue
            elif after and part + after in self._live:  # the `x2` of `295x2`, the `sxm4` of `a100sxm4` (no Tesla M4)
                tokens.append(Token(part + after, glued, live=True))
                known = known or not glued
                position += 2
                continue
            elif after and after[0].isdigit() and (names := self._names(part, after)):
                for name in names:
                    tokens.append(Token(name, bool(tokens), live=True))
                position += 2
                known = True
                continue
            elif part in self._live:
                tokens.append(Token(part, glued, live=True))
            elif split := self._split(part):
                tokens += [Token(name, glued or bool(number), live=True) for number, name in enumerate(split)]
            elif glued and known and (pieces := self._behind(part, after)):
                tokens += [Token(name, glued, live=True) for name in pieces]
                position += 2 if pieces[-1][-1].isdigit() else 1
                continue
            else:
                tokens.append(Token(part, glued))
                known = False
            position += 1
        return tokens

    def _names(self, letters: str, digits: str) -> list[str]:
        """Split letters and the number behind them into words of a name: `rtxa` `4000` is rtx a4000, `r` `9290` is r9 290.

        Empty if they are no name.
        """
        if letters + digits in self._joined:
            return [letters + digits]
        if letters in cores.SEPARATE:
            return [letters, digits]
        if letters[-1] == "r" and digits[0] in "579" and ("r" + digits[0], digits[1:]) in self._numbered:
            return ["r" + digits[0], digits[1:]]
        for size in (1, 2):
            head, tail = letters[:-size], letters[-size:] + digits
            if tail in self._joined and (head in cores.SEPARATE or head in _CODE_HEADS):
                return [head, tail] if head in cores.SEPARATE else [tail]
        for size in (3, 2):
            head, prefix = letters[:-size], letters[-size:]
            if (prefix, digits) in self._numbered and (head in _CODE_HEADS or self._split(head)):
                return [*self._split(head), prefix, digits]
        if (split := self._split(letters)) and (split[-1] in cores.SEPARATE):
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
        for prefix in sorted(cores.SEPARATE, key=len, reverse=True):
            if letters.startswith(prefix) and letters != prefix:
                remainder = letters[len(prefix) :]
                if remainder in self._names_only or remainder in cores.SEPARATE:  # `product` is no duct
                    return [prefix, remainder]
                if further := self._split(remainder):
                    return [prefix, *further]
        return []
