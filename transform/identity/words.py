"""Words of titles taken apart, each once: what a word can mean is remembered, since titles share most of their words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuledger.transform.identity import cores, memory_words, text

#: The tail of part numbers: `XD54G` is X, D5, 4 GB.
_TYPE_AND_SIZE = re.compile(r"([a-z]*)d([2-6])(\d{1,2})g[a-z]*")
#: More pieces than this are no count of cards: `64x` is a Vega 64X.
MOST_CARDS = 16
_COUNT = re.compile(r"(\d{1,2})x|x(\d{1,2})")
#: Letters of a single size unit behind a number that make it no model number: `450W`, `192-bit`, `2520MHz`, `850mm`.
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
#: Prefixes that makers glue before a line's prefix in part numbers: ENGTX480, NGT440, VCQRTX8000, AXRX5700.
_CODE_HEADS = frozenset(("en", "n", "nb", "ng", "e", "p", "zo", "ax", "vx", "tuf", "ph", "sx", "gv"))


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a title. A piece that can mean nothing here is not `live`, and is passed over."""

    text: str
    #: Glued to the piece before, as `ti` in `3060ti`; glued to unknown letters, as the number in `abc3060`.
    glued: bool = False
    live: bool = False
    memory: float | None = None
    memory_type: str | None = None
    #: A number of pieces: `2x` (1) or `x2` (-1 for a count behind the name).
    count: int = 0
    count_behind: bool = False


def _memory_type(parts: list[str], position: int) -> tuple[str, int] | None:
    """A memory type glued behind a number and how many pieces it has: `1650gddr6`, `1650d6`, `3060tigddr6x`.

    With its name written out it is one wherever it stands; in `560d4sfg5` the `d4` is the maker's code.
    """
    for count in (3, 2):
        word = "".join(parts[position : position + count])
        if word in memory_words.TYPES and (len(parts[position]) > 2 or position + count >= len(parts)):
            return word, min(count, len(parts) - position)
    return None


class Words:
    """Takes words apart against a vocabulary: what means something, and names that are letters and digits in one word."""

    #: Words kept. A shop's titles have some ten thousand; beyond this the memory would only grow.
    CAPACITY = 50_000

    def __init__(
        self,
        *,
        live: frozenset[str],
        joined: frozenset[str],
        whole: dict[str, tuple[str, str]],
        numbered: frozenset[tuple[str, str]],
        spelling: dict[str, str],
    ) -> None:
        """`whole` are names with a letter behind (`a10g`: a10, g); `numbered` prefixes and numbers of names (rtx, 3060)."""
        self._whole = whole
        self._live = live
        self._joined = joined
        self._spelling = spelling
        self._numbered = numbered
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
        made = tuple(self.tokens(respelled)) if respelled else tuple(self._analyse(word))
        self._known[word] = made
        return made

    def _analyse(self, word: str) -> list[Token]:
        if whole := self._whole.get(word):
            memory, kind = memory_words.glued(word) or (None, None)  # `a10g` is a card, and in a longer code 10 GB
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
        known = True  # whether what stands before in this word is understood
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
        """Letters and the number behind them as words of a name: `rtxa` `4000` is rtx a4000, `r` `9290` is r9 290."""
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
        """Words glued behind a number, with the digits behind them where these belong to them: `sffada`, `dv2`.

        Empty unless all of it is known. A name's letter may stand in front (`6000dblackwell`).
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
        """Glued words of names: `geforcertx` is geforce rtx, `gtxtitanx` gtx titan x. Empty where a part is unknown."""
        for prefix in sorted(cores.SEPARATE, key=len, reverse=True):
            if letters.startswith(prefix) and letters != prefix:
                rest = letters[len(prefix) :]
                if rest in self._live or rest in cores.SEPARATE:
                    return [prefix, rest]
                if further := self._split(rest):
                    return [prefix, *further]
        return []
