"""Titles to words, and words to pieces: the one place where spelling is evened out."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from gpuledger.transform.identity.naming import DATA

#: Words of other scripts (`data/scripts.toml`) and the English words that the rest of the code knows.
SCRIPTS: dict[str, dict[str, str]] = tomllib.loads((DATA / "scripts.toml").read_text("utf-8"))
_LETTERS_OF = {
    "korean": "[\uac00-\ud7a3]",
    "chinese": "[\u4e00-\u9fff]",
    "japanese": "[\u3040-\u9fff]",
    "cyrillic": "[\u0400-\u04ff]",
}
#: By script: its letters, the words looked for where a title has any of them, longest first, and what they mean.
_SCRIPTS = tuple(
    (re.compile(_LETTERS_OF[script]), re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True))), words)
    for script, words in SCRIPTS.items()
)

# UTF-8 read as Windows-1252, as some shops print it: the trademark signs and the no-break space.
_MOJIBAKE = re.compile("\u00e2\u201e\u00a2|\u00c2[\u00ae\u00a9\u00a0]")
_ACCENTED = re.compile("[\u00c0-\u017f]")
# Letters that have no accent to take off, and that a reader without them writes so.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"})

# Marks that NFKC would turn into letters (TM, SM) and so glue to the word before.
_MARKS = str.maketrans({"™": " ", "®": " ", "©": " ", "℠": " "})
_MARKS_IN_ASCII = re.compile(r"\((?:tm|r|c)\)")

#: `*4` and `×4`, which count as `x4` does.
_TIMES = re.compile(r"[*×](?=\d)")

# Korean is written into codes and names (`원`, `갤럭시`); runs of other scripts stand alone, and count as unknown words.
_WORD = re.compile(r"\d+\.\d+[a-z]*|[a-z0-9\uac00-\ud7a3+]+|[(),/|]|[^\W\d_a-z\uac00-\ud7a3]+")
_PIECE = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\uac00-\ud7a3]+|\+|[^\W\d_a-z\uac00-\ud7a3]+")


# A title is looked at from several sides, one after the other, and each needs it so.
@lru_cache(maxsize=64)
def normalise(title: str) -> str:
    """Lower case, full-width forms and accents folded, trademark signs dropped, known words of other scripts in English."""
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
    if "*" in text or "×" in text:
        text = _TIMES.sub(" x", text)
    if "(" in text:
        text = _MARKS_IN_ASCII.sub(" ", text)
    if "max" in text:
        text = text.replace("max-q", " maxq ").replace("max q", " maxq ")
    return text


def _in_english(translations: dict[str, str]) -> Callable[[re.Match[str]], str]:
    return lambda match: f" {translations[match.group()]} "


def split_words(normalised: str) -> list[str]:
    """Words, and the signs `(`, `)`, `,`, `/` and `|` as words of their own, since they part one product from another."""
    return _WORD.findall(normalised)


def pieces(word: str) -> list[str]:
    """Runs of letters, digits or Hangul: `rtx3060ti` gives `rtx`, `3060`, `ti`."""
    return _PIECE.findall(word)
