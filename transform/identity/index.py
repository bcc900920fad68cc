"""Arranges the catalogue for reading titles. Names that share a core form a family, and their other words distinguish them.

`GeForce RTX 3060 Ti` has the core `rtx 3060` and the suffix `ti`. `A100 SXM4 80GB` has the core `a100`, the open word `sxm`
and a memory size. A title must have a suffix to mean a card with it, and must not have it to mean a card without it. An open
word narrows the choice if the title has it; otherwise the choice stays open.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from gpuledger.transform.identity import catalogue, text
from gpuledger.transform.identity.gpu import MACHINE, Gpu
from gpuledger.transform.identity.text import MEMORY_TYPES

#: Words that are separate from the number behind them: `rtx4090` is two words, but `a100` is one.
SEPARATE = frozenset((
    "rtx", "gtx", "gt", "gts", "rx", "hd", "wx", "fx", "nvs", "cmp", "mx", "geforce", "radeon", "quadro", "tesla", "vega",
    "titan", "arc", "firepro", "firegl", "firemv", "instinct", "nvidia", "amd", "ati", "intel", "uhd", "iris", "mobility",
    "pro", "graphics",
))  # fmt: skip
#: Prefixes that form a core together with the number behind them.
NUMBERED = frozenset(("rtx", "gtx", "gt", "gts", "rx", "hd", "wx", "fx", "nvs", "cmp", "mx", "uhd", "r5", "r7", "r9"))
#: Lines that form a core together with a bare number: `GeForce 210`, `Quadro 4000`, `Arc 140V`.
LINES = frozenset(("geforce", "radeon", "quadro", "firepro", "firegl", "firemv", "pro", "tesla", "arc"))


@dataclass(frozen=True, slots=True)
class NameParts:
    """The core of a name and its other words."""

    core: tuple[str, ...]
    other_words: tuple[str, ...]


def name_words(name: str) -> list[str]:
    """Split a catalogue name into the same pieces as titles. Letters stay with a number only if both are a name (`a100`)."""
    words: list[str] = []
    for word in text.split_words(text.normalise(name)):
        parts = text.pieces(word)
        while parts:
            head = parts.pop(0)
            if head.isalpha() and head not in SEPARATE and parts and parts[0][0].isdigit():
                head += parts.pop(0)
            words.append(head)
    return words


def parts_of_name(name: str) -> NameParts | None:
    """The core and the other words of a name without its memory size; None if no title can mean it."""
    words = name_words(name)
    for rule in (_phrase, _vega, _numbered, _line_number, _joined):
        name_parts = rule(words)
        if name_parts:
            return name_parts
    return None


def _without(words: list[str], *left_out: str) -> tuple[str, ...]:
    return tuple(word for word in words if word not in left_out)


def _phrase(words: list[str]) -> NameParts | None:
    """Names without a number, and names whose number alone says too little."""
    if "titan" in words:
        # "pascal" is the chip's architecture, which the resolver compares anyway. "gtx" stays, as the older TITAN X has it.
        return NameParts(("titan",), _without(words, "titan", "geforce", "pascal", "edition"))
    if "fury" in words and "r9" in words:
        return NameParts(("fury",), _without(words, "fury", "r9", "radeon"))
    if "nano" in words and "r9" in words:
        return NameParts(("r9", "nano"), ())
    if "vii" in words:
        return NameParts(("pro" if "pro" in words else "radeon", "vii"), ())
    if "duo" in words and "pro" in words and "vega" not in words and not any(word[-1].isdigit() for word in words):
        return NameParts(("pro", "duo"), _without(words, "radeon", "pro", "duo"))
    if "jetson" in words:
        return NameParts(tuple(words), ())
    for product in ("max", "flex"):
        if "gpu" in words and product in words:
            return NameParts(tuple(words[words.index("gpu") :]), ())
    if "hd" in words and "graphics" in words:
        number = words[-2] if words[-1] == "mobile" else words[-1]
        return (
            NameParts(("hd", "graphics", number), _without(words, "intel", "hd", "graphics", number))
            if number[-1].isdigit()
            else None
        )
    return None


def _vega(words: list[str]) -> NameParts | None:
    if "vega" not in words or "m" in words:
        return None
    position = words.index("vega")
    if position + 1 == len(words):
        return None
    after = words[position + 1]
    # "pro" stays among the other words: Radeon Pro Vega 56 and RX Vega 56 are different cards.
    return NameParts(("vega", after), _without(words, "rx", "radeon", "vega", after))


def _numbered(words: list[str]) -> NameParts | None:
    if words[0] == "iris":
        return None
    words = [word for word in words if word != "graphics"]
    for position, word in enumerate(words[:-1]):
        after = words[position + 1]
        # "RTX PRO 4000 Blackwell" has the core of "RTX 4000": shops write the words in any order.
        if after == "pro" and word == "rtx" and position + 2 < len(words):
            words = [*words[: position + 1], words[position + 2], "pro", *words[position + 3 :]]
            after = words[position + 1]
        if word.isdigit() and len(word) >= 3:
            return None  # `8800 GTS 640`: the number stands before the prefix
        if word in NUMBERED and (
            (after.isdigit() and len(after) >= 2)
            or (word in ("r5", "r7", "r9") and after[0] in "am" and after[-1].isdigit())
        ):
            return NameParts((word, after), (*words[:position], *words[position + 2 :]))
    return None


def _joined(words: list[str]) -> NameParts | None:
    for position, word in enumerate(words):
        letters = word.rstrip("0123456789")
        if 1 <= len(letters) <= 2 and letters != word and letters.isalpha() and (letters != "r" or len(word) == 5):
            return NameParts((word,), (*words[:position], *words[position + 1 :]))
    return None


def _line_number(words: list[str]) -> NameParts | None:
    for position, word in enumerate(words):
        if word.isdigit() and len(word) >= 3:
            line = next((before for before in reversed(words[:position]) if before in LINES), None)
            if line:
                return NameParts((line, word), (*words[:position], *words[position + 1 :]))
            return None
    return None


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
    name_parts = parts_of_name(name)
    if not name_parts:
        return None
    other_words = {"sxm" if word.startswith("sxm") else word for word in name_parts.other_words}
    laptop = gpu.segment in ("mobile", "embedded", "integrated") or "maxq" in other_words
    mobile = next((_MOBILE[word] for word in other_words if word in _MOBILE), None) if laptop else None
    named_type = next((MEMORY_TYPES[word] for word in other_words if word in MEMORY_TYPES), None)
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
    suffixes = frozenset(word for word in other_words if word not in silent and word not in MEMORY_TYPES)
    sizes = frozenset((gpu.memory_gb, gpu.memory_gb * gpu.gpus_on_board)) if gpu.memory_gb else frozenset()
    sizes |= frozenset(catalogue.memory_also().get(gpu.gpu_id, ()))
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
    "geforce": ("gt",),
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
