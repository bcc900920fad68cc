"""What a chart says about itself: title, subtitle and unit."""

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
    """The largest line of text above `below`, and the next one under it."""
    above = [
        word
        for word in words
        if not word.slanted and word.box[3] <= below and len(word.text) > 3 and word.number is None
    ]
    if not above:
        return None, None
    # A publisher's logo has taller letters than the title, and fewer.
    title = max(above, key=lambda word: word.height * min(len(word.text), 30))
    under = [word for word in above if word.middle[1] > title.middle[1] and word.box[0] < title.box[2]]
    subtitle = min(under, key=lambda word: (round(word.middle[1] - title.middle[1]), word.box[0]), default=None)
    return title.text, subtitle.text if subtitle else None


def unit(words: Sequence[Word], titles: Sequence[str | None]) -> str | None:
    """The unit as printed: that of most values, else what the axis, the subtitle or the title name."""
    behind = [word.unit for word in words if word.number is not None and word.unit]
    if behind:
        return max(sorted(set(behind)), key=behind.count)
    shown = {text for text in titles if text}
    texts = [word.text for word in words if word.text not in shown and len(word.text) <= 60]
    for text in [*texts, *(title for title in reversed(titles) if title)]:
        if found := _UNIT.search(text):
            return found[0]
    return None
