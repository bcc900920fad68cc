"""Cards that share a name's core, and how a member of such a family is told apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.gpu import Gpu

#: Words that narrow a choice where a title has them, and leave it open where it has not.
OPEN_WORDS = frozenset(("quadro", "ada", "blackwell", "sxm", "pcie", "nvl", "pro"))


@dataclass(frozen=True, slots=True)
class Member:
    """One card of a family, as titles are compared with it."""

    gpu: Gpu
    #: The name without memory size.
    name: str
    maker: str
    suffixes: frozenset[str]
    open_words: frozenset[str]
    mobile: str | None
    #: Sizes in GiB under which it is sold: of one chip and, on boards with several, of the whole board.
    sizes: frozenset[float]
    #: The memory type that the name itself states (GT 1030 DDR4).
    named_type: str | None
    architecture: str


@dataclass(slots=True)
class Family:
    """All cards that share a core."""

    core: tuple[str, ...]
    members: tuple[Member, ...] = ()
    #: The words that tell its members apart.
    suffixes: frozenset[str] = frozenset()
    sizes: frozenset[float] = frozenset()
    #: Suffixes that are numbers: the shader count in `RX 580 2048SP`.
    numbers_behind: frozenset[str] = frozenset()
    #: The core is letters and digits in one word, and so short that codes contain it: `p4`, `a10`.
    joined: bool = False
    #: What may be glued to such a core: its suffixes, and `m` where it has a laptop part.
    letters: frozenset[str] = frozenset()
    short: bool = False

    def close(self, members: list[Member]) -> None:
        """Set the members and what follows from them."""
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
