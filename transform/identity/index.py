"""The catalogue arranged for reading titles: names that share a core stand in one family, told apart by the words behind it.

`GeForce RTX 3060 Ti` has the core `rtx 3060` and the suffix `ti`; `A100 SXM4 80GB` the core `a100`, the open word `sxm` and a
memory size. A suffix must be there for the card to be meant and must not be there for another; an open word narrows the
choice where it is there, and leaves the choice open where it is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from transform.identity import text
from transform.identity.gpu import Gpu
from transform.identity.memory_words import TYPES

#: Words of catalogue names that never tell two cards apart.
_SILENT = frozenset(
    (
        "geforce",
        "radeon",
        "amd",
        "nvidia",
        "ati",
        "intel",
        "graphics",
        "generation",
        "edition",
        "gpu",
        "instinct",
        "tesla",
    )
    + ("firepro", "firegl", "firemv", "pro", "ai", "arc", "data", "center", "workstation", "quadro", "igp", "all", "in")
)
#: Words that narrow a choice where a title has them.
OPEN_WORDS = frozenset(("quadro", "ada", "blackwell", "sxm", "pcie", "nvl", "pro"))
_PREFIX_WITH_DIGIT = frozenset(("r5", "r7", "r9"))
_MOBILE = {"m": "m", "mobile": "m", "maxq": "maxq"}
#: Letters that stand before a number as a word of their own; other single letters belong to it (A100, W7900).
SEPARATE = frozenset(
    (
        "rtx",
        "gtx",
        "gt",
        "gts",
        "rx",
        "hd",
        "wx",
        "fx",
        "nvs",
        "cmp",
        "geforce",
        "radeon",
        "quadro",
        "tesla",
        "vega",
        "titan",
    )
    + ("arc", "firepro", "firegl", "instinct", "nvidia", "amd", "uhd", "iris", "mobility")
)


@dataclass(frozen=True, slots=True)
class Member:
    """One card of a family, as the resolver compares it."""

    gpu: Gpu
    suffixes: frozenset[str]
    open_words: frozenset[str]
    #: None for a desktop or server part, `m` for a laptop part, `maxq` for its low-power version.
    mobile: str | None
    #: Sizes in GiB under which it is sold: of one chip and, on boards with several, of the whole board.
    sizes: frozenset[float]
    architecture: str | None


@dataclass(slots=True)
class Family:
    """All cards that share a core. `suffixes` are the words that tell its members apart."""

    core: tuple[str, ...]
    members: list[Member] = field(default_factory=list)
    suffixes: frozenset[str] = frozenset()
    sizes: frozenset[float] = frozenset()
    #: Memory type in the name of some member: there a stated type decides (GT 1030 DDR4).
    types_decide: bool = False

    def close(self) -> None:
        """Fill what follows from the members."""
        self.suffixes = frozenset(word for member in self.members for word in member.suffixes)
        self.sizes = frozenset(size for member in self.members for size in member.sizes)


Node = dict[str, "Node | Family"]


@dataclass(slots=True)
class Index:
    """Families by core as a trie (`start`, with the family under the key ``""``), and by bare model number."""

    start: dict[str, Node]
    numbers: dict[str, tuple[Family, ...]]
    #: Letter and digits that are one word of a name: `a100`, `w7900`, `mi300`.
    joined: frozenset[str]
    families: dict[tuple[str, ...], Family]


def name_words(name: str) -> list[str]:
    """A catalogue name as the pieces that titles are read in: letters stay with their number only where they are its name."""
    found: list[str] = []
    for word in text.words(text.normalise(name)):
        parts = text.pieces(word)
        while parts:
            head = parts.pop(0)
            if head.isalpha() and head not in SEPARATE and parts and parts[0][0].isdigit():
                head += parts.pop(0)
            found.append(head)
    return found


def member(gpu: Gpu) -> tuple[tuple[str, ...], Member]:
    """The core of a card's name, and what else its name says."""
    name = gpu.name
    if gpu.memory_gb and gpu.gpu_id.endswith(("gb", "mb")):
        name = name.rsplit(" ", 1)[0]
    words = name_words(name)
    core: list[str] = []
    line = ""
    rest: list[str] = []
    for position, word in enumerate(words):
        if word in _SILENT or (word == "rtx" and position + 1 < len(words) and _is_joined(words[position + 1])):
            line = word if not core else line
            if word in OPEN_WORDS:
                rest.append(word)
            continue
        core.append(word)
        if any(letter.isdigit() for letter in word) and word not in _PREFIX_WITH_DIGIT:
            rest += words[position + 1 :]
            break
    if len(core) == 1 and (core[0].isdigit() or not any(letter.isdigit() for letter in core[0])) and line:
        core.insert(0, line)
    words_open = {word.rstrip("2345") if word.startswith("sxm") else word for word in rest}
    laptop = gpu.segment in ("mobile", "embedded") or "maxq" in rest
    mobile = next((_MOBILE[word] for word in rest if word in _MOBILE), None) if laptop else None
    suffixes = frozenset(
        word
        for word in rest
        if not (laptop and word in _MOBILE)
        and word not in _SILENT
        and word not in OPEN_WORDS
        and not word.startswith("sxm")
    )
    opened = frozenset(words_open & OPEN_WORDS)
    if "pro" in opened and core[0] != "rtx":
        opened -= {"pro"}
    sizes = {gpu.memory_gb, gpu.memory_gb * gpu.gpus_on_board} if gpu.memory_gb else set()
    architecture = gpu.architecture.lower().split()[0] if gpu.architecture else None
    return tuple(core), Member(gpu, suffixes, opened, mobile, frozenset(sizes), architecture)


def _is_joined(word: str) -> bool:
    return word[0].isalpha() and word[-1].isdigit() and word not in SEPARATE


#: Segments whose cards a title may mean. Consoles are products of their own.
_READABLE = frozenset(("consumer", "workstation", "data_center", "mobile", "mining", "integrated", "embedded"))


def build(gpus: Iterable[Gpu]) -> Index:
    """The index over `gpus`."""
    families: dict[tuple[str, ...], Family] = {}
    for gpu in gpus:
        if gpu.segment not in _READABLE:
            continue
        core, found = member(gpu)
        if not core:  # a name of silent words only, such as "Intel Graphics": no title can mean one card by it
            continue
        family = families.setdefault(core, Family(core))
        family.members.append(found)
        family.types_decide |= any(word in TYPES for word in found.suffixes)
    for family in families.values():
        family.close()
    start: dict[str, Node] = {}
    for core, family in families.items():
        _put(start, core, family)
    _add_other_prefixes(start, families)
    joined = frozenset(word for core in families for word in core if word[0].isalpha() and word[-1].isdigit())
    return Index(start, _numbers(families), joined, families)


def _put(start: dict[str, Node], core: tuple[str, ...], family: Family) -> None:
    node = start
    for word in core:
        node = node.setdefault(word, {})  # type: ignore[assignment]
    node[""] = family  # type: ignore[assignment]


#: A number that names one family only is understood behind any prefix of its maker: shops write `GTX 3080`, `Radeon 6600 XT`.
_PREFIXES = {
    "rtx": ("rtx", "gtx", "gt", "geforce"),
    "gtx": ("rtx", "gtx", "gt", "geforce", "gts"),
    "gt": ("gt", "gtx", "geforce"),
    "gts": ("gts", "gtx", "gt", "geforce"),
    "rx": ("rx", "radeon"),
    "hd": ("hd", "radeon"),
}


def _add_other_prefixes(start: dict[str, Node], families: dict[tuple[str, ...], Family]) -> None:
    meant: dict[tuple[str, str], list[Family]] = defaultdict(list)
    for core, family in families.items():
        if len(core) == 2 and core[0] in _PREFIXES and core[1].isdigit():
            for prefix in _PREFIXES[core[0]]:
                meant[prefix, core[1]].append(family)
    for other, found in meant.items():
        if other not in families and len(found) == 1:
            _put(start, other, found[0])


def _numbers(families: dict[tuple[str, ...], Family]) -> dict[str, tuple[Family, ...]]:
    """Families by bare number, for `3090 Ti` and `AMD 7900 XT`: three and four digit numbers of cards since 2012."""
    found: dict[str, list[Family]] = defaultdict(list)
    for core, family in families.items():
        newest = max((item.gpu.released_on.year for item in family.members if item.gpu.released_on), default=0)
        if len(core) == 2 and core[0] in ("rtx", "gtx", "gt", "rx", "hd") and core[1].isdigit() and len(core[1]) >= 3:
            if newest >= 2012 or core[0] == "hd":
                found[core[1]].append(family)
    return {number: tuple(named) for number, named in found.items()}
