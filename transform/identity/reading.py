"""What a title says, before anybody decides which card that is."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.family import Family
from gpuledger.transform.identity.words import Token

ARCHITECTURES = frozenset(
    ("ada", "lovelace", "blackwell", "ampere", "turing", "pascal", "volta", "hopper", "maxwell", "kepler")
)
#: How a server card is built in: the word of the catalogue for every word of the trade.
FORM_WORDS = {
    **dict.fromkeys(("sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "hgx", "dgx"), "sxm"),
    "nvl": "nvl",
    "pcie": "pcie",
}


@dataclass(slots=True)
class Mention:
    """A family named in the title, with the suffixes behind the name and the words that named it."""

    family: Family
    suffixes: frozenset[str]
    spelled: str
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
    #: A line's prefix and a number that no card of the catalogue has: `rtx 5065`.
    unknown_names: list[str] = field(default_factory=list)
    makers: set[str] = field(default_factory=set)
    #: Letters directly behind a number, inside a part number: perhaps a suffix, perhaps not.
    letters_in_codes: set[str] = field(default_factory=set)
    #: How many words have no meaning for us.
    noise: int = 0
    #: How many cards the title sells.
    count: int = 1
    #: The title is a cloud's name of what it rents: about GPUs by itself, and often without the edition.
    rented: bool = False

    @property
    def sizes(self) -> frozenset[float]:
        """Memory sizes that can be the card's: where it stands in brackets (a system and its card), only those there."""
        brackets = bool(self.mentions) and all(mention.in_brackets for mention in self.mentions)
        return frozenset(size for size, inside in self.memory if inside or not brackets)
