"""Particles of Korean behind a value, by how the value is read: `4090은`, `Q4_K_M을`, `newegg로`."""

from __future__ import annotations

import re

#: A particle by each of the ways to write it, with its forms behind a consonant and behind a vowel.
_FORMS = {
    form: pair
    for pair in (("은", "는"), ("이", "가"), ("을", "를"), ("과", "와"), ("으로", "로"), ("이라는", "라는"))
    for form in (*pair, f"{pair[0]}({pair[1]})", f"{pair[1]}({pair[0]})")
} | {"(으)로": ("으로", "로"), "(이)": ("이", "")}
#: A particle behind a gap of a template and the marks around it.
_BEHIND_A_GAP = re.compile(
    r"(?<=\})([)'\"`\]]*)(\(이\)|[은이을와과]\([는가를과와]\)|\(으\)로|(?:이?라는|으?로|[은는이가을를과와])(?![가-힣]))"
)
#: What stands in parentheses is not read with it: `4090(중고)은` as `4090은`. A percent sign is read, as `퍼센트`.
_MARKED = re.compile(r"(\w?)([\w%])((?: ?\([^()\x00]*\))?[^\w%\x00]*)\x00([^\x00]+)\x00")
#: Letters of words that end in a consonant as they are read, and what of letters and digits read one by one does.
_WORD_CLOSED, _READ_CLOSED, _IN_L = frozenset("lmnptkcb"), frozenset("013678LMNlmn"), frozenset("178Ll")


class Korean(str):
    """A translation. Formatted, its particles agree with the values before them, and won are written as `원`."""

    __slots__ = ()

    def format(self, *values: object, **named: object) -> str:
        """The sentence with its values."""
        marked = _BEHIND_A_GAP.sub("\\1\x00\\2\x00", self)
        filled = re.sub(r"(?<=\d) KRW(?![A-Za-z])", "원", str.format(marked, *values, **named))
        return _MARKED.sub(_resolved, filled).replace("\x00", "")


def _resolved(found: re.Match[str]) -> str:
    """A particle in the form that agrees with the last letter before it."""
    before, letter, marks, particle = found.groups()
    closed, open_ = _FORMS[particle]
    if "가" <= letter <= "힣":
        last = (ord(letter) - 0xAC00) % 28
        is_closed, is_l = last > 0, last == 8
    else:
        is_word = before.islower() and letter.islower()
        is_closed = letter in (_WORD_CLOSED if is_word else _READ_CLOSED)
        # `list` is read 리스트 and `abc` 에이비시: of a stop behind a consonant only `ck` closes.
        if is_word and letter in "ptkcb" and before not in "aeiouy":
            is_closed = before + letter == "ck"
        is_l = letter in _IN_L
    return f"{before}{letter}{marks}{closed if is_closed and not (is_l and closed == '으로') else open_}"
