"""Splits titles into words and words into pieces. All evening-out of spelling happens here."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from gpuledger.transform.identity.naming import DATA

#: Words of other scripts (`data/scripts.toml`), each with the English word that the rest of the code knows.
SCRIPTS: dict[str, dict[str, str]] = tomllib.loads((DATA / "scripts.toml").read_text("utf-8"))
_LETTERS_OF = {
    "korean": "[\uac00-\ud7a3]",
    "chinese": "[\u4e00-\u9fff]",
    "japanese": "[\u3040-\u9fff]",
    "cyrillic": "[\u0400-\u04ff]",
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
_ACCENTED = re.compile("[\u00c0-\u017f]")
# Letters that have no accent to remove, and how people write them on a keyboard without them.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"})

# Marks that NFKC would turn into letters (TM, SM), which would then stick to the word before.
_MARKS = str.maketrans({"™": " ", "®": " ", "©": " ", "℠": " "})
_MARKS_IN_ASCII = re.compile(r"\((?:tm|r|c)\)")

#: The slot as shops write it: `PCI-E`, `PCI Express`, `PCI-E4.0`.
_PCIE = re.compile(r"pci[\s-]?e(?:x|xpress)?(?![a-z])")
#: A code on the chip itself, which says nothing about the card that it is on: `GV100-896-A1`, `AD102-300`.
_DIE = re.compile(r"\b(?:g[abhkmpv]|tu|ad)\d{3}[a-z]?-\d{2,3}[a-z]?(?:-[a-z]\d)*\b")

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
    if title.isascii():
        text = title.lower()
    else:
        text = unicodedata.normalize("NFKC", _MOJIBAKE.sub(" ", title).translate(_MARKS)).lower()
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
        text = _DIE.sub(" ", text)
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
