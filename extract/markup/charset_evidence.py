"""Guesses the charset of bytes that are not UTF-8 from what the text would look like.

Korean, Japanese and European shop pages have marks that settle it quickly. For other pages charset-normalizer decides. It is
good at pages full of Cyrillic or Chinese, but takes a Korean page or a page with one `£` in it for something exotic.
"""

from __future__ import annotations

import re

#: How many bytes around non-ASCII ones are enough to distinguish charsets.
_ENOUGH = 8192
# The sample has whole runs between tags: a piece that starts in the middle of a two-byte letter is read shifted by one.
# The page is split at the tags, because a search for runs would go through a megabyte of ASCII once from each of its bytes.
_TAG_SIGN = re.compile(rb"[<>]")

_HANGUL = re.compile("[가-힣]")
_KANA = re.compile("[ぁ-ゖァ-ヺ]")  # full width only: in cp932 any accented letter becomes a half-width one
_HAN = re.compile("[一-鿿]")
_HIGH = re.compile(r"[^\x00-\x7f]")
_HIGH_LETTER = re.compile(r"[^\W\d_a-zA-Z]")

# Signs of another charset that is read as cp1252. Western European text never holds them: words of only accented letters,
# capitals after small letters, signs inside words, letters that only Icelandic has (Turkish letters have the same bytes).
_NOT_WESTERN = re.compile(
    r"[À-ÖØ-öø-ÿŠŽŒšžœŸ]{3,}|(?<=[a-zà-ÿ])[À-ÖØ-ÞŠŽŒŸ]|(?<=[a-zà-ÿ])[¡-¿](?=[a-zà-ÿ])|(?<=[a-ln-zà-ÿ])[±³¶¹¼¾¿]|[ðþýÐÞÝ]"
)
# The non-ASCII letters of the languages of a charset, for charsets that differ from cp1252 in only some letters.
_ALPHABETS = {
    "iso8859-2": "ąćęłńóśźżáčďéěíňřšťúůýžľôäöüßőű",
    "cp1250": "ąćęłńóśźżáčďéěíňřšťúůýžľôäöüßőű",
    "cp1254": "çğıöşüâîûİ",
}
_PUNCTUATION = frozenset("\xa0©®™°€£§«»„“”‚‘’–—…•·×²³½¼¾µ")
_LETTER_BEFORE_DIGIT = re.compile(r"[^\W\d_a-zA-Z]\d|[^\W\d_a-zA-Z]{5,}")


def sample(content: bytes) -> bytes:
    """The parts of a page that hold non-ASCII bytes, up to a size that is enough for a judgement."""
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
        # Chinese text that is read as Korean is a mix of Hangul and Hanja. Korean shops write hardly any Hanja.
        return len(_HANGUL.findall(text)) >= 0.9 * max(1, len(_HIGH_LETTER.findall(text)))
    if name in ("cp932", "euc_jp"):
        kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
        return kana > 0 and kana + han >= 0.8 * len(_HIGH_LETTER.findall(text))
    if name in ("cp1252", "iso8859-15"):
        odd = sum(len(match[0]) for match in _NOT_WESTERN.finditer(text))
        return odd <= 0.05 * len(_HIGH.findall(text))
    if name in _ALPHABETS:
        return _is_written_in(_ALPHABETS[name], text)
    from charset_normalizer import from_bytes  # takes 40 ms, and few pages come this far

    return from_bytes(sample, cp_isolation=[name], enable_fallback=False).best() is not None


def guess(sample: bytes) -> str | None:
    """The most likely charset of the sample, in Python's spelling; None if no charset fits."""
    for name in ("cp949", "cp932", "euc_jp", "cp1252", *_ALPHABETS):
        # It has a letter for nearly all bytes. The ends of the sample may be cut through a letter.
        strange = sample.decode(name, errors="replace").count("\ufffd")
        if strange <= max(2, len(sample) // 100) and makes_sense(sample, name):
            return name
    from charset_normalizer import from_bytes

    best = from_bytes(sample, enable_fallback=False).best()
    return best.encoding if best else None


def _is_written_in(alphabet: str, text: str) -> bool:
    high = _HIGH.findall(text)
    strange = sum(letter.lower() not in alphabet and letter not in _PUNCTUATION for letter in high)
    # A letter before a digit is a misread currency sign. Words of only such letters are text in another script.
    odd = sum(len(match[0]) for match in _LETTER_BEFORE_DIGIT.finditer(text))
    return strange <= 0.02 * len(high) and odd <= 0.1 * len(high)
