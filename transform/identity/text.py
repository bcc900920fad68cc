"""Splits titles into words and words into pieces, and reads memory sizes. All evening-out of spelling happens here."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from gpuledger.transform.identity.catalogue import DATA

#: Words of other scripts (`data/scripts.toml`), each with the English word that the rest of the code knows.
SCRIPTS: dict[str, dict[str, str]] = tomllib.loads((DATA / "scripts.toml").read_text("utf-8"))
_LETTERS_OF = {
    "korean": "[\uac00-\ud7a3]",
    "chinese": "[\u4e00-\u9fff]",
    "japanese": "[\u3040-\u9fff]",
    "cyrillic": "[\u0400-\u04ff]",
    "greek": "[\u0370-\u03ff]",
    "others": "[\u0590-\u06ff\u0e00-\u0e7f]",
}
#: For each script: its letters, a pattern of its known words (longest first), and their English words. The pattern is only
#: tried if the title has a letter of the script.
_SCRIPTS = tuple(
    (
        re.compile(_LETTERS_OF[script]),
        re.compile("|".join(sorted(map(re.escape, english), key=len, reverse=True))),
        english,
    )
    for script, english in SCRIPTS.items()
)

# UTF-8 read as Windows-1252, as some shops print it: the trademark signs and the no-break space.
_MOJIBAKE = re.compile("\u00e2\u201e\u00a2|\u00c2[\u00ae\u00a9\u00a0]")
_ACCENTED = re.compile("[\u00c0-\u017f\u01a0-\u01b0\u1ea0-\u1ef9]")
# Letters that have no accent to remove, and how people write them on a keyboard without them.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"})

#: Digits in circles and of old scripts. Python calls them digits, and cannot read them as numbers.
_NO_NUMBERS = re.compile(
    "[\u1369-\u1371\u19da\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\U00010a40-\U00010a43"
    "\U00010e60-\U00010e68\U00011052-\U0001105a]"
)
# Marks that NFKC would turn into letters (TM, SM), which would then stick to the word before.
_MARKS = re.compile("[™®©℠]")
_MARKS_IN_ASCII = re.compile(r"\((?:tm|r|c)\)")

#: The slot as shops write it: `PCI-E`, `PCI Express`, `PCI-E4.0`.
_PCIE = re.compile(r"pci[\s-]?e(?:x|xpress)?(?![a-z])")
#: A code on the chip or of the board, which says nothing about the card: `GV100-896-A1`, `AD102-300`, `900-2G133-0020-100`.
_DIE = re.compile(
    r"\b(?:(?:g[abhkmpv]|tu|ad)\d{3}[a-z]?-\d{2,3}[a-z]?(?:-[a-z]\d)*|(?:699|900)-\d[a-z\d]\d{3}-\d{4}-\d{3})\b"
)

#: `3070 T i` and `6800 X-T`: a suffix that was written apart.
_APART = re.compile(r"(?<=\d)\s+(?:(t)[\s-](i)|(x)[\s/-](t))(?![\w-])")

#: Letters of an abbreviation, each with its dot: `S.A.C` is no SUPER.
_INITIALS = re.compile(r"\.(?<=\b[a-z]\.)(?=[a-z]\b)")

#: `*4` and `×4`, which mean the same as `x4`.
_TIMES = re.compile(r"[*×](?=\d)")

# Korean letters are part of codes and names (`원`, `갤럭시`). A run of another script is a word of its own, and unknown.
_WORD = re.compile(r"\d+\.\d+[a-z]*|[a-z0-9\uac00-\ud7a3+]+|[(),/|]|[^\W\d_a-z\uac00-\ud7a3]+")
_PIECE = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\uac00-\ud7a3]+|\+|[^\W\d_a-z\uac00-\ud7a3]+")


# Several functions look at the same title one after the other, and each needs its normalised form.
@lru_cache(maxsize=64)
def normalise(title: str) -> str:
    """Put a title in lower case, fold full-width forms and accents, drop trademark signs, and translate known words of
    other scripts into English.
    """
    title = title.replace("dB", "decibel")  # `db` counts pieces in Hungarian
    if title.isascii():
        text = title.lower()
    else:
        text = unicodedata.normalize("NFKC", _MARKS.sub(" ", _MOJIBAKE.sub(" ", title))).lower()
        text = _NO_NUMBERS.sub(" ", text)
        if _ACCENTED.search(text):
            text = "".join(
                unicodedata.normalize("NFKD", letter)[0] if _ACCENTED.match(letter) else letter
                for letter in text.translate(_LETTERS)
            )
        for letters, known, english in _SCRIPTS:
            if letters.search(text):
                text = known.sub(_in_english(english), text)
        if "  " in text:  # a phrase must be the same with and without translation: `서버 에디션`
            text = " ".join(text.split())
    if "*" in text or "×" in text:
        text = _TIMES.sub(" x", text)
    if "(" in text:
        text = _MARKS_IN_ASCII.sub(" ", text)
    if "pci" in text:
        text = _PCIE.sub("pcie", text)
    if "-" in text:
        text = _DIE.sub(" ", text).replace("d-rgb", "drgb")  # lights, and no model D
    text = _APART.sub(r" \1\2\3\4", text)
    if "." in text:
        text = _INITIALS.sub("", text)
    if "max" in text:
        text = text.replace("max-q", " maxq ").replace("max q", " maxq ")
    return text


def _in_english(translations: dict[str, str]) -> Callable[[re.Match[str]], str]:
    return lambda match: f" {translations[match.group()]} "


def split_words(normalised: str) -> list[str]:
    """Split a title into words. `(`, `)`, `,`, `/` and `|` are words too, because they separate one product from another."""
    return _WORD.findall(normalised)


def pieces(word: str) -> list[str]:
    """Split a word into runs of letters, digits or Hangul: `rtx3060ti` gives `rtx`, `3060`, `ti`."""
    return _PIECE.findall(word)


#: No board has more memory. `1008GB/s` is a bandwidth, and 512 GB belong to a disk.
_LARGEST_GB = 300
_SMALLEST_GB = 1 / 16

MEMORY_TYPES: dict[str, str] = {
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

# A size glued to its unit, but not to a suffix (`Ti16G`). Vendors also glue letters before it (O = overclocked, A, T, P) and
# behind it (O, D, I, L, H are codes; D5, D6X are the memory type). `gt`, as in MSI's `2GT`, counts only for small sizes:
# `16GT/s` is a bus rate.
_GLUED = re.compile(
    r"(?:(?!ti|xt)[a-z]{0,2}?)0?(\d{1,3}|\d\.\d+)"
    r"(?:gt|g(?:b|o)?(?:[a-z]{0,3}?)(?:(?:gddr|ddr|d|k)([2-7]x?)|(hbm\d?e?))?[a-z]{0,3}?)"
)
_NOT_MEMORY = re.compile(r"g(?:bps|bit|hz|tx|ts|en|bs|pu|fx|re|be)")
_GLUED_MB = re.compile(r"(\d{2,4})m(b|d\d|d\d[a-z]|gd\d|ib)?")
#: Sizes that titles write with a bare `m` (`512M`). Any other number before `m` names a laptop part (GTX 960M, 640M).
_BARE_MB = frozenset((128, 256, 512, 768, 896, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192))


def glued_memory(word: str) -> tuple[float, str | None] | None:
    """Size in GiB and memory type of a word such as `12gb`, `o8g`, `8gbd6`; None if the word is no memory size."""
    if "g" in word and not _NOT_MEMORY.search(word) and (match := _GLUED.fullmatch(word)):
        kind = f"gddr{match[2]}" if match[2] and match[2] >= "5" else f"ddr{match[2]}" if match[2] else match[3]
        size = _plausible(float(match[1]))
        return (size, MEMORY_TYPES.get(kind) if kind else None) if size else None
    if "m" in word and (match := _GLUED_MB.fullmatch(word)):
        size = _plausible(int(match[1]) / 1024) if match[2] or int(match[1]) in _BARE_MB else None
        return (size, None) if size else None
    return None


def spaced_memory(number: str, unit: str) -> float | None:
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
MEMORY_UNITS = _GIGA | _MEGA
