"""The content of a title, before the code decides which card it means."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.family import Family
from gpuledger.transform.identity.words import Token

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
    #: Letters of the title.
    letters: int = 0
    mentions: list[Mention] = field(default_factory=list)
    #: Memory sizes in GiB, and whether each one stands in brackets.
    memory: list[tuple[float, bool]] = field(default_factory=list)
    #: Sizes that may also be names: `a10g` is a card, but in `ROG-STRIX-A10G` it means 10 GB. They count as sizes if the
    #: title has a better name.
    memory_in_names: list[tuple[float, bool]] = field(default_factory=list)
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
    def sizes(self) -> frozenset[float]:
        """Memory sizes that can be the card's. If the card stands in brackets (a system and its card), only the sizes in
        brackets can be.
        """
        brackets = bool(self.mentions) and all(mention.in_brackets for mention in self.mentions)
        return frozenset(size for size, inside in self.memory if inside or not brackets)
