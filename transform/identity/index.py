"""The catalogue arranged for reading titles: names that share a core are a family, told apart by their other words.

`GeForce RTX 3060 Ti` has the core `rtx 3060` and the suffix `ti`; `A100 SXM4 80GB` the core `a100`, the open word `sxm` and
a memory size. A suffix must be there for its card to be meant and must not be there for another; an open word narrows the
choice where a title has it, and leaves the choice open where it has not.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from gpuledger.transform.identity import catalogue, cores, overlay
from gpuledger.transform.identity.family import OPEN_WORDS, Family, Member, Node
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.memory_words import TYPES

#: Words of catalogue names that never tell two cards of one family apart.
_SILENT = frozenset((
    "geforce", "radeon", "amd", "nvidia", "ati", "intel", "graphics", "generation", "edition", "gpu", "instinct", "tesla",
    "firepro", "firegl", "firemv", "firestream", "arc", "ai", "data", "center", "workstation", "igp", "nvs", "series", "rtx",
    "rx", "hd", "grid",
))  # fmt: skip
#: `m` for a laptop part, `maxq` for its low-power version.
_MOBILE = {"m": "m", "mobile": "m", "mobility": "m", "maxq": "maxq"}
#: Segments whose cards a title may mean. A console is a product of its own.
_READABLE = frozenset(("consumer", "workstation", "data_center", "mobile", "mining", "integrated", "embedded"))
#: A chip with the machine around it, which is no card in any title.
MACHINE = "machine"
#: Older cards carry names that are found in anything, and nobody prices them.
_OLDEST = 2003
_OLDEST_BARE = 2012


@dataclass(frozen=True, slots=True)
class Index:
    """Families by core, as a trie and by bare model number."""

    start: dict[str, Node]
    numbers: dict[str, tuple[Family, ...]]
    #: Letters and digits that are one word of a name: `a100`, `w7900`, `mi300`.
    joined: frozenset[str]
    families: dict[tuple[str, ...], Family]


def member(gpu: Gpu) -> tuple[tuple[str, ...], Member] | None:
    """The core of a card's name and what else its name says; None where no title could mean it."""
    name = gpu.name
    if gpu.memory_gb and gpu.gpu_id.endswith(("gb", "mb")) and name.endswith(("GB", "MB")):
        name = name.rsplit(" ", 1)[0]
    name_parts = cores.parts(name)
    if not name_parts:
        return None
    rest = {"sxm" if word.startswith("sxm") else word for word in name_parts.rest}
    laptop = gpu.segment in ("mobile", "embedded", "integrated") or "maxq" in rest
    mobile = next((_MOBILE[word] for word in rest if word in _MOBILE), None) if laptop else None
    named_type = next((TYPES[word] for word in rest if word in TYPES), None)
    opened = rest & OPEN_WORDS
    silent: frozenset[str] = _SILENT
    if name_parts.core == ("titan",):
        opened = rest & {"gtx"}
        silent -= {"rtx"}
    if name_parts.core[0] != "rtx":
        # "pro" tells RTX PRO from RTX; behind Radeon it is part of the line's name, or of an old card's: a suffix.
        opened -= {"pro"}
    silent |= {name_parts.core[0]}
    silent |= opened | (frozenset(_MOBILE) if laptop else frozenset())
    if {"radeon", "arc"} & set(name_parts.rest) and name_parts.core[0] not in ("radeon", "pro"):
        silent |= {"pro"}
    suffixes = frozenset(word for word in rest if word not in silent and word not in TYPES)
    sizes = frozenset((gpu.memory_gb, gpu.memory_gb * gpu.gpus_on_board)) if gpu.memory_gb else frozenset()
    sizes |= frozenset(overlay.memory_also().get(gpu.gpu_id, ()))
    return name_parts.core, Member(
        gpu=gpu,
        name=name,
        maker="AMD" if gpu.vendor == "ATI" else gpu.vendor,
        suffixes=suffixes,
        open_words=frozenset(opened),
        mobile=mobile,
        sizes=sizes,
        named_type=named_type,
        architecture=gpu.architecture.lower().split()[0] if gpu.architecture else "",
    )


@cache
def of_catalogue() -> Index:
    """The index over the GPUs of the catalogue: one for all resolvers, which only read it."""
    members: dict[tuple[str, ...], list[Member]] = defaultdict(list)
    for gpu in catalogue.gpus():
        if gpu.form_factor == MACHINE or gpu.segment not in _READABLE:
            continue
        if gpu.released_on is None or gpu.released_on.year >= _OLDEST:
            entry = member(gpu)
            if entry and not _found_in_anything(gpu, entry[0]):
                members[entry[0]].append(entry[1])
    families = {core: Family(core) for core in members}
    start: dict[str, Node] = {}
    for core, family in families.items():
        family.close(members[core])
        _put(start, core, family)
    _add_other_prefixes(start, families)
    joined = frozenset(word for core in families for word in core if word[0].isalpha() and word[-1].isdigit())
    return Index(start, _numbers(families), joined, families)


def _found_in_anything(gpu: Gpu, core: tuple[str, ...]) -> bool:
    """Whether a core is a letter and a number that codes are full of, of a part that nobody prices: `g7`, `v8`, `h3`."""
    if len(core) > 1 or not core[0][-1].isdigit():
        return False
    if gpu.segment == "integrated" or gpu.vendor not in ("NVIDIA", "AMD", "ATI", "Intel"):
        return True
    # Server cards of one letter and one digit (T4, L4, A2) are rented and sold; a laptop's A4 is not worth the risk.
    return len(core[0]) == 2 and gpu.segment != "data_center"


def _put(start: dict[str, Node], core: tuple[str, ...], family: Family) -> None:
    node = start.setdefault(core[0], Node())
    for word in core[1:]:
        node = node.after.setdefault(word, Node())
    node.family = family


#: A number of one family only is understood behind any prefix of its maker: shops write `GTX 3080`, `Radeon 6600 XT`.
_ALSO_WRITTEN = {
    "rtx": ("gtx", "gt", "geforce"),
    "gtx": ("rtx", "gt", "geforce", "gts"),
    "gt": ("gtx", "geforce"),
    "gts": ("gtx", "gt", "geforce"),
    "rx": ("radeon",),
    "hd": ("radeon",),
    "r9": ("radeon",),
    "r7": ("radeon",),
    "quadro": (),
}


def _add_other_prefixes(start: dict[str, Node], families: dict[tuple[str, ...], Family]) -> None:
    meant: dict[tuple[str, str], list[Family]] = defaultdict(list)
    for core, family in families.items():
        if len(core) == 2 and core[1].isdigit() and any(item.gpu.segment == "consumer" for item in family.members):
            for prefix in _ALSO_WRITTEN.get(core[0], ()):
                meant[prefix, core[1]].append(family)
    for other, named in meant.items():
        if other not in families and len(named) == 1:
            _put(start, other, named[0])


def _numbers(families: dict[tuple[str, ...], Family]) -> dict[str, tuple[Family, ...]]:
    """Families by bare number, for `3090 Ti` and `AMD 7900 XT`: numbers of three and more digits."""
    by_number: dict[str, list[Family]] = defaultdict(list)
    for core, family in families.items():
        newest = max((item.gpu.released_on.year for item in family.members if item.gpu.released_on), default=0)
        if core[0] == "geforce" and newest < _OLDEST_BARE:
            continue  # nobody means a GeForce 6800 of 2004 by "6800 XT"
        if not any(item.gpu.segment in ("consumer", "workstation", "data_center") for item in family.members):
            continue
        if len(core) == 2 and core[1].isdigit() and len(core[1]) >= 3 and core[0] not in ("uhd", "nvs", "fx"):
            by_number[core[1]].append(family)
    return {number: tuple(named) for number, named in by_number.items()}
