"""Mends text that was encoded twice: UTF-8 bytes that someone read as Windows-1252 and saved (`â‚¬1,699.00`, `RTXâ„¢`).

Saved shop pages hold such text, and a currency sign in it decides what a price means. Only sequences that do not occur in
ordinary text of the languages read here are mended, so a lone `é »` stays as it is.
"""

from __future__ import annotations

import re

#: Windows-1252's characters for the bytes 0x80 to 0x9F. Its five unassigned bytes appear as control characters.
_BYTE_OF = {bytes([number]).decode("cp1252", errors="ignore"): number for number in range(0x80, 0xA0)}
_NEXT = f"[\x80-\xbf{''.join(_BYTE_OF)}]"
_TWICE = re.compile(
    # Latin letters and signs (é, °, ł), then punctuation, ™ and €, then the full-width ￥.
    f"[Â-Å]{_NEXT}|â{_NEXT}{{2}}|ï{_NEXT}{{2}}"
    # Japanese, Chinese and Korean only several at a time: a single one could be an accented letter before a quotation mark.
    f"|(?:[ã-íï]{_NEXT}{{2}}){{2,}}"
)


#: The rest of a no-break space behind a number, if its second half was read as ordinary white space.
_HALF_SPACE = re.compile(r"(?<=\d)Â(?= )")


def mend(text: str) -> str:
    """The text with every twice-encoded sequence decoded as it was meant. A sequence that does not decode stays as it is."""
    return text if text.isascii() else _HALF_SPACE.sub("", _TWICE.sub(_decoded, text))


def clean(text: str) -> str:
    """The text with each run of white space as one space (no-break spaces too) and twice-encoded letters mended."""
    return " ".join(mend(text).split())


def _decoded(match: re.Match[str]) -> str:
    try:
        return bytes(_BYTE_OF.get(letter, ord(letter)) for letter in match.group()).decode("utf-8")
    except ValueError:
        return match.group()
