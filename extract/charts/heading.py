"""Finds the title, the subtitle and the unit of a chart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuledger.extract.charts.words import Word

#: Units of benchmarks, as charts print them.
_UNIT = re.compile(
    r"(?i)(?:\b(?:images?|tokens?|iterations?|it|frames?|samples?|steps?|tok|points?|score)\s?(?:/|per)\s?"
    r"(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|s|h|m|watt|w|\$|dollar)\b"
    r"|\b(?:it/s|t/s|tok/s|tps|fps|ms|watts?|gb/s|tflops|gflops|tops|usd|seconds?|sec|minutes?|points?)\b"
    r"|(?<=\()s(?=\))|%)"
)


def title_and_subtitle(words: Sequence[Word], below: float) -> tuple[str | None, str | None]:
    """The largest line of text above the row `below`, and the next line under it."""
    candidates = [
        word
        for word in words
        if not word.slanted and word.box[3] <= below and len(word.text) > 3 and word.number is None
    ]
    if not candidates:
        return None, None
    # A publisher's logo has taller letters than the title, but fewer of them.
    title = max(candidates, key=lambda word: word.height * min(len(word.text), 30))
    lower_lines = [word for word in candidates if word.middle[1] > title.middle[1] and word.box[0] < title.box[2]]
    subtitle = min(lower_lines, key=lambda word: (round(word.middle[1] - title.middle[1]), word.box[0]), default=None)
    return title.text, subtitle.text if subtitle else None


def unit(words: Sequence[Word], titles: Sequence[str | None]) -> str | None:
    """The unit as printed: the unit of most values, or else the unit that the axis, the subtitle or the title names."""
    units = [word.unit for word in words if word.number is not None and word.unit]
    if units:
        return max(sorted(set(units)), key=units.count)
    title_texts = {text for text in titles if text}
    texts = [word.text for word in words if word.text not in title_texts and len(word.text) <= 60]
    for text in [*texts, *(title for title in reversed(titles) if title)]:
        if match := _UNIT.search(text):
            return match[0]
    return None
