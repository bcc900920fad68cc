"""Reads suffixes, the words behind a model number that make it another card (Ti, SUPER, XT, D).

Titles glue suffixes to the number and to each other, or put them elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.family import Family
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import Token

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
