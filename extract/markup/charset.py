"""Decodes bytes to text by evidence: the byte order mark, the bytes themselves, then what header and page declare.

Declarations are often wrong, so they only decide between readings that fit the bytes. requests' own rule (no charset in the
header means ISO-8859-1) turns every `€` and every Hangul of an undeclared UTF-8 page into noise.
"""

from __future__ import annotations

import codecs
import re

from gpuledger.extract.markup import charset_evidence

_BOMS = (  # the longer first: UTF-32's mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# On the web these labels mean larger charsets than in Python (WHATWG Encoding Standard).
_LABELS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "euc_kr": "cp949",
    "ks_c_5601": "cp949",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
}
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
_META_CHARSET = re.compile(
    rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([\w.:+-]+)|<\?xml[^>]+?encoding\s*=\s*[\"']([\w.:+-]+)", re.IGNORECASE
)
#: A declaration stands within so many bytes of a page. The standard says 1024, but real pages put scripts before it.
_META_WITHIN = 8192


def decode(content: bytes, content_type: str | None = None) -> str:
    """The text of a page. Never raises; bytes that fit no charset become U+FFFD.

    `content_type` is the header's value. The first of these that fits counts: the byte order mark; strict UTF-8, which bytes
    of other encodings hardly ever fit by chance; the charset of the header, then of the page; the best guess from the bytes.
    """
    for mark, name in _BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, errors="replace")
    declared = _declared(content, content_type)
    if declared[:1] in (["iso2022_jp"], ["hz"]) or (
        declared and declared[0].startswith(("utf_16", "utf-16", "utf_32", "utf-32"))
    ):
        # These charsets use ASCII bytes or NUL bytes, so their bytes would pass as UTF-8 too.
        text = _strict(content, declared[0])
        if text is not None and "<" in text[:4096]:
            return text
    if b"\0" in content[:4096]:
        text = _utf16(content)
        if text is not None:
            return text
    text = _strict(content, "utf-8")
    if text is not None:
        return text
    if _mostly_utf8(content):
        return content.decode("utf-8", errors="replace")
    return _by_evidence(content, declared)


def _declared(content: bytes, content_type: str | None) -> list[str]:
    """Python's names of the charsets that header and page declare, in that order, without unknown ones."""
    labels: list[str] = []
    if content_type and (match := _HEADER_CHARSET.search(content_type)):
        labels.append(match[1])
    if meta := _META_CHARSET.search(content[:_META_WITHIN]):
        labels.append((meta[1] or meta[2]).decode("ascii"))
    names = []
    for label in labels:
        try:
            info = codecs.lookup(label)
        except LookupError:
            continue
        if info._is_text_encoding:  # 'hex' and 'zip' are codecs too
            names.append(_LABELS.get(info.name, info.name))
    return list(dict.fromkeys(names))


def _strict(content: bytes, name: str) -> str | None:
    try:
        return content.decode(name)
    except (UnicodeError, LookupError):
        return None


def _utf16(content: bytes) -> str | None:
    """UTF-16 without a byte order mark: in markup every other byte is NUL."""
    start = content[:4096]
    for name, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
        if start[offset::2].count(0) > len(start) // 4:
            return content.decode(name, errors="replace")
    return None


def _mostly_utf8(content: bytes) -> bool:
    """Whether the page is UTF-8 in which only a few bytes are damaged (a cut-off letter, one pasted byte)."""
    text = content.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd") - content.count(b"\xef\xbf\xbd")
    good = sum(1 for letter in text if letter > "\x7f") - damaged
    return good >= 10 * damaged


def _by_evidence(content: bytes, declared: list[str]) -> str:
    """The text of bytes that are not UTF-8: in a declared charset that makes sense of them, else in the best guess."""
    candidates = [name for name in declared if name != "utf-8"]
    sample = charset_evidence.sample(content)
    for name in candidates:
        if (text := _strict(content, name)) is not None and charset_evidence.makes_sense(sample, name):
            return text
    guess = charset_evidence.guess(sample)
    if guess is not None and (text := _strict(content, guess)) is not None:
        return text
    # A page that is cut off in mid-letter fits no charset strictly. A few U+FFFD are better than a page of noise.
    return content.decode(guess or (candidates or ["cp1252"])[0], errors="replace")
