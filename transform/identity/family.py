"""Families of cards whose names share a core, and what distinguishes the members of a family."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.gpu import Gpu

#: Words that narrow a choice if the title has them. If it does not, the choice stays open.
OPEN_WORDS = frozenset(("quadro", "ada", "blackwell", "sxm", "pcie", "nvl", "pro"))


@dataclass(frozen=True, slots=True)
class Member:
    """One card of a family, with everything that a title is compared with."""

    gpu: Gpu
    #: The name without memory size.
    name: str
    maker: str
    suffixes: frozenset[str]
    open_words: frozenset[str]
    mobile: str | None
    #: Memory sizes in GiB under which the card is sold: of one chip and, if the board has several chips, of the whole board.
    sizes: frozenset[float]
    #: The memory type that is part of the name (GT 1030 DDR4).
    named_type: str | None
    architecture: str


@dataclass(slots=True)
class Family:
    """All cards that share a core."""

    core: tuple[str, ...]
    members: tuple[Member, ...] = ()
    #: The words that distinguish the members.
    suffixes: frozenset[str] = frozenset()
    sizes: frozenset[float] = frozenset()
    #: Suffixes that are numbers, such as the shader count in `RX 580 2048SP`.
    numbers_behind: frozenset[str] = frozenset()
    #: The core is letters and digits in one word: `p4`, `a10`, `mi300`.
    joined: bool = False
    #: Letters that may be glued to such a core: the suffixes, and `m` if the family has a laptop part.
    letters: frozenset[str] = frozenset()
    #: The core is `joined` and has at most two digits, so that part numbers contain it by chance.
    short: bool = False

    def close(self, members: list[Member]) -> None:
        """Set the members and all fields that follow from them."""
        self.members = tuple(members)
        self.suffixes = frozenset(word for member in members for word in member.suffixes)
        self.numbers_behind = frozenset(word for word in self.suffixes if word.isdigit())
        self.sizes = frozenset(size for member in members for size in member.sizes)
        self.joined = len(self.core) == 1 and self.core[0][-1].isdigit()
        self.letters = self.suffixes | ({"m"} if any(member.mobile == "m" for member in members) else set())
        self.short = self.joined and sum(letter.isdigit() for letter in self.core[0]) <= 2


@dataclass(slots=True)
class Node:
    """A step of the trie over cores."""

    after: dict[str, Node] = field(default_factory=dict)
    family: Family | None = None
