"""Which charset bytes that are not UTF-8 were written in, judged by what the text would look like.

Korean, Japanese and European shop pages have marks that settle it quickly. The rest is left to charset-normalizer, which is
good at pages full of Cyrillic or Chinese, but takes a Korean page or a page with one `£` in it for something exotic.
"""

from __future__ import annotations

import re

#: How many bytes around non-ASCII ones are enough to tell charsets apart.
_ENOUGH = 8192
# Whole runs between tags: a piece that starts in the middle of a letter of two bytes would be read shifted by one. Split,
# not searched for: a search looks at a megabyte of ASCII once from each of its bytes.
_TAG_SIGN = re.compile(rb"[<>]")

_HANGUL = re.compile("[가-힣]")
_KANA = re.compile("[ぁ-ゖァ-ヺ]")  # full width: half-width ones are what any accented letter becomes in cp932
_HAN = re.compile("[一-鿿]")
_HIGH = re.compile(r"[^\x00-\x7f]")
_HIGH_LETTER = re.compile(r"[^\W\d_a-zA-Z]")

# What Western European text never holds, but other charsets read as cp1252 do: words of nothing but accented letters,
# capitals after small letters, signs inside words, letters that only Icelandic has (Turkish ones stand in their places).
_NOT_WESTERN = re.compile(
    r"[À-ÖØ-öø-ÿŠŽŒšžœŸ]{3,}|(?<=[a-zà-ÿ])[À-ÖØ-ÞŠŽŒŸ]|(?<=[a-zà-ÿ])[¡-¿](?=[a-zà-ÿ])|(?<=[a-ln-zà-ÿ])[±³¶¹¼¾¿]|[ðþýÐÞÝ]"
)
# The letters beyond ASCII of the languages that a charset is used for, where it differs from cp1252 in some of them only.
_ALPHABETS = {
    "iso8859-2": "ąćęłńóśźżáčďéěíňřšťúůýžľôäöüßőű",
    "cp1250": "ąćęłńóśźżáčďéěíňřšťúůýžľôäöüßőű",
    "cp1254": "çğıöşüâîûİ",
}
_PUNCTUATION = frozenset("\xa0©®™°€£§«»„“”‚‘’–—…•·×²³½¼¾µ")
_LETTER_BEFORE_DIGIT = re.compile(r"[^\W\d_a-zA-Z]\d|[^\W\d_a-zA-Z]{5,}")


def sample(content: bytes) -> bytes:
    """The parts of a page that hold non-ASCII bytes, up to a size that is enough to judge by."""
    runs: list[bytes] = []
    size = 0
    for run in _TAG_SIGN.split(content):
        if run.isascii():
            continue
        runs.append(run[:_ENOUGH])
        size += len(runs[-1])
        if size >= _ENOUGH:
            break
    return b"\n".join(runs)


def makes_sense(sample: bytes, name: str) -> bool:
    """Whether the sample, read as the charset `name` (in Python's spelling), looks like text."""
    text = sample.decode(name, errors="ignore")
    if name == "cp949":
        return _is_korean(text)
    if name in ("cp932", "euc_jp"):
        return _is_japanese(text)
    if name in ("cp1252", "iso8859-15"):
        return _is_western(text)
    if name in _ALPHABETS:
        return _is_written_in(_ALPHABETS[name], text)
    from charset_normalizer import from_bytes  # 40 ms, and pages that come this far are few

    return from_bytes(sample, cp_isolation=[name], enable_fallback=False).best() is not None


def guess(sample: bytes) -> str | None:
    """The charset that the sample was most likely written in, in Python's spelling; None where nothing fits."""
    for name in ("cp949", "cp932", "euc_jp", "cp1252", *_ALPHABETS):
        if _nearly_all(sample, name) and makes_sense(sample, name):
            return name
    from charset_normalizer import from_bytes

    best = from_bytes(sample, enable_fallback=False).best()
    return best.encoding if best else None


def _nearly_all(sample: bytes, name: str) -> bool:
    """Whether the charset has a letter for nearly all bytes; the ends of the sample may be cut through a letter."""
    return sample.decode(name, errors="replace").count("\ufffd") <= max(2, len(sample) // 100)


def _is_korean(text: str) -> bool:
    # Chinese text read as Korean is a mix of Hangul and Hanja; Korean shops write no Hanja to speak of.
    return len(_HANGUL.findall(text)) >= 0.9 * max(1, len(_HIGH_LETTER.findall(text)))


def _is_japanese(text: str) -> bool:
    kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
    return kana > 0 and kana + han >= 0.8 * len(_HIGH_LETTER.findall(text))


def _is_western(text: str) -> bool:
    odd = sum(len(match[0]) for match in _NOT_WESTERN.finditer(text))
    return odd <= 0.05 * len(_HIGH.findall(text))


def _is_written_in(alphabet: str, text: str) -> bool:
    high = _HIGH.findall(text)
    strange = sum(letter.lower() not in alphabet and letter not in _PUNCTUATION for letter in high)
    # A letter that stands before a digit is a currency sign misread; words of nothing but such letters are another script.
    odd = sum(len(match[0]) for match in _LETTER_BEFORE_DIGIT.finditer(text))
    return strange <= 0.02 * len(high) and odd <= 0.1 * len(high)
