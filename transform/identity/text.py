"""Titles to words, and words to pieces: the one place where spelling is evened out."""

from __future__ import annotations

import re
import unicodedata

#: Korean words that name a brand, a line or a kind of product, and the English word that the rest of the code knows.
#: They are put in as words of their own, since Korean is often glued to what follows (`지포스RTX3060`).
KOREAN: dict[str, str] = {
    "엔비디아": "nvidia",
    "지포스": "geforce",
    "쿼드로": "quadro",
    "테슬라": "tesla",
    "타이탄": "titan",
    "라데온": "radeon",
    "레이디언": "radeon",
    "파이어프로": "firepro",
    "인텔": "intel",
    "아크": "arc",
    "슈퍼": "super",
    "노트북": "laptop",
    "중고": "used",
    "벌크": "bulk",
    "브라켓": "bracket",
    "브래킷": "bracket",
    "브릿지": "bridge",
    "브리지": "bridge",
    "지지대": "holder",
    "거치대": "holder",
    "라이저": "riser",
    "케이블": "cable",
    "젠더": "adapter",
    "어댑터": "adapter",
    "수냉블럭": "waterblock",
    "워터블럭": "waterblock",
    "백플레이트": "backplate",
    "외장": "external",
    "데스크탑": "desktop",
    "데스크톱": "desktop",
    "컴퓨터": "computer",
    "조립": "assembled",
    "쿨러": "cooler",
    "박스만": "boxonly",
}
_KOREAN = re.compile("|".join(sorted(KOREAN, key=len, reverse=True)))

# UTF-8 read as Windows-1252, as some shops print it: the trademark signs and the no-break space.
_MOJIBAKE = re.compile("\u00e2\u201e\u00a2|\u00c2[\u00ae\u00a9\u00a0]")
_ACCENTED = re.compile("[\u00c0-\u017f]")

# Marks that NFKC would turn into letters (TM, SM) and so glue to the word before.
_MARKS = str.maketrans({"™": " ", "®": " ", "©": " ", "℠": " "})
_MARKS_IN_ASCII = re.compile(r"\((?:tm|r|c)\)")

_WORD = re.compile(r"\d+\.\d+[a-z]*|[a-z0-9\uac00-\ud7a3+]+|[(),/|]")
_PIECE = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[\uac00-\ud7a3]+|\+")


def normalise(title: str) -> str:
    """Lower case, full-width forms and accents folded, trademark signs dropped, known Korean words in English."""
    if title.isascii():
        text = title.lower()
    else:
        text = unicodedata.normalize("NFKC", _MOJIBAKE.sub(" ", title).translate(_MARKS)).lower()
        if _ACCENTED.search(text):
            text = "".join(
                unicodedata.normalize("NFKD", letter)[0] if _ACCENTED.match(letter) else letter for letter in text
            )
        text = _KOREAN.sub(lambda found: f" {KOREAN[found.group()]} ", text)
    if "(" in text:
        text = _MARKS_IN_ASCII.sub(" ", text)
    if "max" in text:
        text = text.replace("max-q", " maxq ").replace("max q", " maxq ")
    return text


def words(normalised: str) -> list[str]:
    """Words, and the signs `(`, `)`, `,`, `/` and `|` as words of their own, since they part one product from another."""
    return _WORD.findall(normalised)


def pieces(word: str) -> list[str]:
    """Runs of letters, digits or Hangul: `rtx3060ti` gives `rtx`, `3060`, `ti`."""
    return _PIECE.findall(word)
