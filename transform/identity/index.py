"""Arranges the catalogue for reading titles. Names that share a core form a family, and their other words distinguish them.

`GeForce RTX 3060 Ti` has the core `rtx 3060` and the suffix `ti`. `A100 SXM4 80GB` has the core `a100`, the open word `sxm`
and a memory size. A title must have a suffix to mean a card with it, and must not have it to mean a card without it. An open
word narrows the choice if the title has it; otherwise the choice stays open.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from gpuledger.transform.identity import catalogue, cores, overlay
from gpuledger.transform.identity.family import OPEN_WORDS, Family, Member, Node
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.memory_words import TYPES

#: Words of catalogue names that never distinguish two cards of one family.
_SILENT = frozenset((
    "geforce", "radeon", "amd", "nvidia", "ati", "intel", "graphics", "generation", "edition", "gpu", "instinct", "tesla",
    "firepro", "firegl", "firemv", "firestream", "arc", "ai", "data", "center", "workstation", "igp", "nvs", "series", "rtx",
    "rx", "hd", "grid",
))  # fmt: skip
#: `m` for a laptop part, `maxq` for its low-power version.
_MOBILE = {"m": "m", "mobile": "m", "mobility": "m", "maxq": "maxq"}
#: Segments whose cards a title may mean. A console, for example, is a product of its own.
_READABLE = frozenset(("consumer", "workstation", "data_center", "mobile", "mining", "integrated", "embedded"))
#: The form factor of a chip that is sold only inside a machine. Titles of cards never mean it.
MACHINE = "machine"
#: Cards of earlier years are left out: their names would match too many titles, and nobody asks for their prices.
_OLDEST = 2003
#: A bare number means a card called GeForce and a number (`GeForce 210`) only if the card is from this year or later.
_OLDEST_BARE = 2012


@dataclass(frozen=True, slots=True)
class Index:
    """Families by core, as a trie (`start`), and by bare model number."""

    start: dict[str, Node]
    numbers: dict[str, tuple[Family, ...]]
    #: Words of names that are letters and digits: `a100`, `w7900`, `mi300`.
    joined: frozenset[str]
    families: dict[tuple[str, ...], Family]


def member(gpu: Gpu) -> tuple[tuple[str, ...], Member] | None:
    """The core of a card's name and the card as a member of a family; None if no title can mean the card."""
    name = gpu.name
    if gpu.memory_gb and gpu.gpu_id.endswith(("gb", "mb")) and name.endswith(("GB", "MB")):
        name = name.rsplit(" ", 1)[0]
    name_parts = cores.parts(name)
    if not name_parts:
        return None
    other_words = {"sxm" if word.startswith("sxm") else word for word in name_parts.other_words}
    laptop = gpu.segment in ("mobile", "embedded", "integrated") or "maxq" in other_words
    mobile = next((_MOBILE[word] for word in other_words if word in _MOBILE), None) if laptop else None
    named_type = next((TYPES[word] for word in other_words if word in TYPES), None)
    open_words = other_words & OPEN_WORDS
    silent: frozenset[str] = _SILENT
    if name_parts.core == ("titan",):
        open_words = other_words & {"gtx"}
        silent -= {"rtx"}
    if name_parts.core[0] != "rtx":
        # "pro" distinguishes RTX PRO from RTX. Behind Radeon it is part of the line's name or, on old cards, a suffix.
        open_words -= {"pro"}
    silent |= {name_parts.core[0]}
    silent |= open_words | (frozenset(_MOBILE) if laptop else frozenset())
    if {"radeon", "arc"} & set(name_parts.other_words) and name_parts.core[0] not in ("radeon", "pro"):
        silent |= {"pro"}
    suffixes = frozenset(word for word in other_words if word not in silent and word not in TYPES)
    sizes = frozenset((gpu.memory_gb, gpu.memory_gb * gpu.gpus_on_board)) if gpu.memory_gb else frozenset()
    sizes |= frozenset(overlay.memory_also().get(gpu.gpu_id, ()))
    return name_parts.core, Member(
        gpu=gpu,
        name=name,
        maker="AMD" if gpu.vendor == "ATI" else gpu.vendor,
        suffixes=suffixes,
        open_words=frozenset(open_words),
        mobile=mobile,
        sizes=sizes,
        named_type=named_type,
        architecture=gpu.architecture.lower().split()[0] if gpu.architecture else "",
    )


@cache
def of_catalogue() -> Index:
    """The index over the GPUs of the catalogue. All resolvers share it, because they only read it."""
    members: dict[tuple[str, ...], list[Member]] = defaultdict(list)
    for gpu in catalogue.gpus():
        if gpu.form_factor == MACHINE or gpu.segment not in _READABLE:
            continue
        if gpu.released_on is None or gpu.released_on.year >= _OLDEST:
            entry = member(gpu)
            if entry and not _is_in_many_codes(gpu, entry[0]):
                members[entry[0]].append(entry[1])
    families = {core: Family(core) for core in members}
    start: dict[str, Node] = {}
    for core, family in families.items():
        family.close(members[core])
        _put(start, core, family)
    _add_other_prefixes(start, families)
    joined = frozenset(word for core in families for word in core if word[0].isalpha() and word[-1].isdigit())
    return Index(start, _numbers(families), joined, families)


def _is_in_many_codes(gpu: Gpu, core: tuple[str, ...]) -> bool:
    """Whether a core is a letter and a number that many part numbers contain, and nobody asks for the price: `g7`, `v8`."""
    if len(core) > 1 or not core[0][-1].isdigit():
        return False
    if gpu.segment == "integrated" or gpu.vendor not in ("NVIDIA", "AMD", "ATI", "Intel"):
        return True
    # Server cards of one letter and one digit (T4, L4, A2) are rented and sold. An A4 of a laptop is not worth the risk.
    return len(core[0]) == 2 and gpu.segment != "data_center"


def _put(start: dict[str, Node], core: tuple[str, ...], family: Family) -> None:
    node = start.setdefault(core[0], Node())
    for word in core[1:]:
        node = node.after.setdefault(word, Node())
    node.family = family


#: Other prefixes that shops write before a number: `GTX 3080`, `Radeon 6600 XT`. They count only if just one family has the
#: number.
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
    families_of_name: dict[tuple[str, str], list[Family]] = defaultdict(list)
    for core, family in families.items():
        if len(core) == 2 and core[1].isdigit() and any(item.gpu.segment == "consumer" for item in family.members):
            for prefix in _ALSO_WRITTEN.get(core[0], ()):
                families_of_name[prefix, core[1]].append(family)
    for name, same_name in families_of_name.items():
        if name not in families and len(same_name) == 1:
            _put(start, name, same_name[0])


def _numbers(families: dict[tuple[str, ...], Family]) -> dict[str, tuple[Family, ...]]:
    """Families by bare number of three or more digits, for titles such as `3090 Ti` and `AMD 7900 XT`."""
    by_number: dict[str, list[Family]] = defaultdict(list)
    for core, family in families.items():
        newest = max((item.gpu.released_on.year for item in family.members if item.gpu.released_on), default=0)
        if core[0] == "geforce" and newest < _OLDEST_BARE:
            continue  # nobody means a GeForce 6800 of 2004 by "6800 XT"
        if not any(item.gpu.segment in ("consumer", "workstation", "data_center") for item in family.members):
            continue
        if len(core) == 2 and core[1].isdigit() and len(core[1]) >= 3 and core[0] not in ("uhd", "nvs", "fx"):
            by_number[core[1]].append(family)
    return {number: tuple(same_number) for number, same_number in by_number.items()}
