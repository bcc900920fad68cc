"""Reads memory sizes and types as titles write them: `12G`, `12GB`, `O8G`, `24GO`, `8GBD6`, `2048MB`, `GDDR6X`, `D6X`."""

from __future__ import annotations

import re

#: No board has more memory. `1008GB/s` is a bandwidth, and 512 GB belong to a disk.
_LARGEST_GB = 300
_SMALLEST_GB = 1 / 16

TYPES: dict[str, str] = {
    **{f"gddr{n}": f"GDDR{n.upper()}" for n in ("2", "3", "4", "5", "5x", "6", "6x", "7")},
    **{f"d{n}": f"GDDR{n.upper()}" for n in ("5", "5x", "6", "6x", "7")},
    **{f"gd{n}": f"GDDR{n.upper()}" for n in ("5", "5x", "6", "6x", "7")},
    **{f"g{n}": f"GDDR{n.upper()}" for n in ("5", "5x", "6", "6x", "7")},
    # Shops call boards with DDR2, DDR3 or DDR4 both GDDR3 and D3, so the letter G says nothing.
    **dict.fromkeys(("ddr2", "d2", "gd2", "sddr2"), "DDR2"),
    **dict.fromkeys(("ddr3", "d3", "gd3", "sddr3", "k3"), "DDR3"),
    **dict.fromkeys(("ddr4", "d4", "gd4", "sddr4"), "DDR4"),
    **{f"hbm{n}": f"HBM{n}" for n in ("", "2", "2e", "3", "3e")},
}

# A size glued to its unit. Vendors also glue letters before it (O = overclocked, A, T, P) and behind it (O, D, I, L, H are
# codes; D5, D6X are the memory type). `gt`, as in MSI's `2GT`, counts only for small sizes: `16GT/s` is a bus rate.
_GLUED = re.compile(
    r"(?:[a-z]{0,2}?)0?(\d{1,3}|\d\.\d+)(?:gt|g(?:b|o)?(?:[a-z]{0,3}?)(?:(?:gddr|ddr|d|k)([2-7]x?)|(hbm\d?e?))?[a-z]{0,3}?)"
)
_NOT_MEMORY = re.compile(r"g(?:bps|bit|hz|tx|ts|en|bs|pu|fx|re|be)")
_GLUED_MB = re.compile(r"(\d{2,4})m(b|d\d|d\d[a-z]|gd\d|ib)?")
#: Sizes that titles write with a bare `m` (`512M`). Any other number before `m` names a laptop part (GTX 960M, 640M).
_BARE_MB = frozenset((128, 256, 512, 768, 896, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192))


def glued(word: str) -> tuple[float, str | None] | None:
    """Size in GiB and memory type of a word such as `12gb`, `o8g`, `8gbd6`; None if the word is no memory size."""
    if "g" in word and not _NOT_MEMORY.search(word) and (match := _GLUED.fullmatch(word)):
        kind = f"gddr{match[2]}" if match[2] and match[2] >= "5" else f"ddr{match[2]}" if match[2] else match[3]
        size = _plausible(float(match[1]))
        return (size, TYPES.get(kind) if kind else None) if size else None
    if "m" in word and (match := _GLUED_MB.fullmatch(word)):
        size = _plausible(int(match[1]) / 1024) if match[2] or int(match[1]) in _BARE_MB else None
        return (size, None) if size else None
    return None


def spaced(number: str, unit: str) -> float | None:
    """Size in GiB of a number and a unit with a space between: `12 GB`, `10 G`, `512 MB`; None if this is no memory size."""
    if unit in _GIGA:
        return _plausible(float(number))
    if unit in _MEGA:
        return _plausible(float(number) / 1024)
    return None


def _plausible(size: float) -> float | None:
    """The size if a board can have it, otherwise None: chips come in multiples of 64 MB."""
    return size if _SMALLEST_GB <= size <= _LARGEST_GB and (size * 16).is_integer() else None


_GIGA = frozenset(("gb", "g", "go", "gib"))
_MEGA = frozenset(("mb", "mib"))
SPACED_UNITS = _GIGA | _MEGA
