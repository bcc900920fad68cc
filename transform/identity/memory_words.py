"""Memory sizes and memory types as titles write them: `12G`, `12GB`, `O8G`, `24GO`, `8GBD6`, `2048MB`, `GDDR6X`, `D6X`."""

from __future__ import annotations

import re

#: Sizes in GiB that some board was sold with. Others (`1008GB/s`, `512GB SSD`) are no graphics memory.
SIZES = frozenset(
    (0.0625, 0.125, 0.25, 0.3125, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
    + (7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 28.0, 32.0, 36.0, 40.0, 44.0, 48.0, 64.0)
    + (72.0, 80.0, 84.0, 90.0, 94.0, 96.0, 120.0, 128.0, 141.0, 144.0, 180.0, 186.0, 192.0, 256.0, 288.0)
)
_MB = frozenset(
    (64, 128, 256, 320, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 4096, 6144, 8192)
)

TYPES: dict[str, str] = {
    **{f"gddr{n}": f"GDDR{n}" for n in ("2", "3", "4", "5", "5x", "6", "6x", "7")},
    **{f"d{n}": f"GDDR{n}" for n in ("5", "5x", "6", "6x", "7")},
    **{f"gd{n}": f"GDDR{n}" for n in ("5", "5x", "6", "6x", "7")},
    **{f"g{n}": f"GDDR{n}" for n in ("5", "5x", "6", "6x", "7")},
    # Boards with DDR2, DDR3 or DDR4 are called GDDR3 and D3 alike: the letter says nothing.
    **{name: "DDR2" for name in ("ddr2", "d2", "gd2", "sddr2")},
    **{name: "DDR3" for name in ("ddr3", "d3", "gd3", "sddr3", "k3")},
    **{name: "DDR4" for name in ("ddr4", "d4", "gd4", "sddr4")},
    **{f"hbm{n}": f"HBM{n}" for n in ("", "2", "2e", "3", "3e")},
}

# A size glued to its unit, with what vendors glue before (O = overclocked, A, T, P) and behind (O, D, I, L, H: codes;
# D5, D6X: the memory type). `gt`, as in MSI's `2GT`, only for small sizes: `16GT/s` is a bus rate.
_GLUED = re.compile(
    r"(?:[a-z]{0,2}?)0?(\d{1,3}|\d\.\d+)(?:gt|g(?:b|o)?(?:[a-z]{0,3}?)(?:(?:gddr|ddr|d|k)([2-7]x?)|(hbm\d?e?))?[a-z]{0,3}?)"
)
_NOT_MEMORY = re.compile(r"g(?:bps|bit|hz|tx|ts|en|bs|pu|fx|re|be)")
_GLUED_MB = re.compile(r"(\d{2,4})m(?:b|d\d|d\d[a-z]|gd\d|ib)?")


def glued(word: str) -> tuple[float, str | None] | None:
    """Size in GiB and memory type of a word such as `12gb`, `o8g`, `8gbd6`; None where the word is no memory size."""
    if "g" in word and not _NOT_MEMORY.search(word):
        found = _GLUED.fullmatch(word)
        if found:
            size = float(found[1])
            if size in SIZES:
                kind = f"gddr{found[2]}" if found[2] and found[2] >= "5" else f"ddr{found[2]}" if found[2] else found[3]
                return size, TYPES.get(kind) if kind else None
    if "m" in word:
        found = _GLUED_MB.fullmatch(word)
        if found and int(found[1]) in _MB and int(found[1]) / 1024 in SIZES:
            return int(found[1]) / 1024, None
    return None


def spaced(number: str, unit: str) -> float | None:
    """Size in GiB of a number and a unit that stand apart: `12 GB`, `10 G`, `512 MB`."""
    if unit in ("gb", "g", "go", "gib"):
        size = float(number)
    elif unit in ("mb", "mib"):
        size = float(number) / 1024
    else:
        return None
    return size if size in SIZES else None


SPACED_UNITS = frozenset(("gb", "g", "go", "gib", "mb", "mib"))
