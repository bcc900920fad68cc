"""Reads the words of a picture with their places, and single words again. Uses rapidocr with the models in its wheel."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from rapidocr import RapidOCR

from gpuledger.extract.charts.outcome import Box
from gpuledger.extract.charts.picture import Pixels

#: Pictures narrower than this are read at twice their size, because the models were trained on larger letters.
_SMALL = 1_500
#: Pixels that are searched for words at once. For more the model needs more memory than the process has.
_MOST_AT_ONCE = 4_500_000
#: A number, perhaps with a currency sign before it and a unit of one word after it.
_NUMBER = re.compile(
    r"^[$€£~]?\s?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)\s?(?P<unit>%|[a-zA-Zµ][\w/·.$]{0,12})?$"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A text as read, and its place. `slanted` if it does not run from left to right."""

    text: str
    box: Box
    score: float
    slanted: bool = False

    @property
    def height(self) -> float:
        """The height of the box in pixels."""
        return self.box[3] - self.box[1]

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of the box."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2

    @property
    def number(self) -> str | None:
        """The number as printed, without its unit. None if the text is not a number."""
        match = _NUMBER.match(self.text.strip())
        return match["number"] if match else None

    @property
    def unit(self) -> str | None:
        """The unit after the number. An s in it is sometimes read as a dollar sign, which is corrected."""
        match = _NUMBER.match(self.text.strip())
        return re.sub(r"(?<=[a-z])\$", "s", match["unit"]) if match and match["unit"] else None


def stacked(strips: list[Pixels]) -> tuple[Pixels, list[int]]:
    """Strips of one width below each other, with the row at which each begins, so that the model reads them all at once.

    The model enlarges low pictures, and it would make a single strip tens of thousands of pixels wide.
    """
    starts, parts, row = [], [], 0
    for strip in strips:
        gap = np.repeat(strip[-1:, :, :], 12, axis=0)
        starts.append(row)
        parts += [strip, gap]
        row += len(strip) + len(gap)
    return np.concatenate(parts), starts


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture. `turned` if its bars are vertical: then the picture and its words are turned clockwise by a quarter."""

    picture: Pixels
    turned: bool = False

    def pixels(self) -> Pixels:
        """The picture, turned if its bars are vertical."""
        return np.ascontiguousarray(np.rot90(self.picture, -1)) if self.turned else self.picture

    def into(self, word: Word) -> Word:
        """A word of the picture, moved into this frame. Only its box is turned; its letters stay upright."""
        if not self.turned:
            return word
        left, top, right, bottom = word.box
        height = self.picture.shape[0]
        return replace(word, box=(height - bottom, left, height - top, right))

    def back(self, box: Box) -> Box:
        """A box of this frame, moved back into the picture."""
        if not self.turned:
            return box
        left, top, right, bottom = box
        height = self.picture.shape[0]
        return top, height - right, bottom, height - left


class Reader:
    """The models, loaded once. `threads` is the number of threads that one reading may use."""

    def __init__(self, threads: int = 1) -> None:
        engine = "EngineConfig.onnxruntime"
        cv2.setNumThreads(threads)
        self._models = RapidOCR(
            params={
                f"{engine}.intra_op_num_threads": threads,
                f"{engine}.inter_op_num_threads": 1,
                "Global.use_cls": False,
                "Global.max_side_len": 4_096,
                "Global.log_level": "error",
            }
        )

    def read_words(self, picture: Pixels, times: float | None = None) -> list[Word]:
        """All words of a picture. `times` enlarges it first."""
        height, width = picture.shape[:2]
        times = min(times or (2.0 if width < _SMALL else 1.0), (_MOST_AT_ONCE / (height * width)) ** 0.5)
        enlarged = cv2.resize(picture, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
        result: Any = self._models(np.ascontiguousarray(enlarged[:, :, ::-1]), use_det=True, use_cls=False)
        if result.boxes is None:
            return []
        words = (
            _word(corners / times, text, float(score))
            for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True)
        )
        return [part for word in words for part in without_share(word, picture)]

    def read_lines(self, crops: list[Pixels]) -> list[tuple[str, float]]:
        """The text of each crop, which shows one line, with the model's own certainty."""
        answers = []
        for crop in crops:
            result: Any = self._models(np.ascontiguousarray(crop[:, :, ::-1]), use_det=False, use_cls=False)
            answers.append((result.txts[0], float(result.scores[0])) if result.txts else ("", 0.0))
        return answers


def crop_of(picture: Pixels, box: Box, margin: float = 0) -> Pixels:
    """The pixels in a box. The box may reach beyond the picture's border."""
    left, top, right, bottom = box
    height, width = picture.shape[:2]
    rows = slice(max(0, int(top - margin)), min(height, int(np.ceil(bottom + margin))))
    columns = slice(max(0, int(left - margin)), min(width, int(np.ceil(right + margin))))
    return picture[rows, columns]


def inked_columns(crop: Pixels) -> NDArray[np.bool_]:
    """Which columns of a crop have a pixel that is drawn on the background."""
    background = np.median(crop.reshape(-1, 3), axis=0)
    return np.asarray((np.abs(crop.astype(np.int16) - background).max(axis=2) > _DRAWN).any(axis=0))


#: A number with a share or its spread after it: `31.2 (87%)`, `3238.00±63.64`.
_WITH_SHARE = re.compile(
    r"^(?P<number>\D?\s?\d[\d.,]*\D{0,8}?)\s*(?P<share>[(\[]\s?\d{1,3}(?:[.,]\d+)?\s?%\s?[)\]]?|(?:±|\+/-)\s?\d[\d.,]*)$"
)
#: Signs that are about half as wide as a digit.
_NARROW = frozenset(".,:;'()[] ")


def _width(text: str) -> float:
    """How wide a text is, in digits."""
    return sum(0.5 if sign in _NARROW else 1.3 if sign in "±%" else 1.0 for sign in text)


#: Pixels that differ by more from the background are drawn on it.
_DRAWN = 60
#: Two spaces in one text are alike if the narrower has at least this share of the width of the wider.
_AS_WIDE = 0.7


def without_share(word: Word, picture: Pixels) -> list[Word]:
    """Split a number and the share or spread after it, which were read as one word, in two. One word if there is no gap."""
    match = _WITH_SHARE.match(word.text.strip())
    if match is None or word.slanted:
        return [word]
    left, top, right, bottom = word.box
    # Only the middle rows, because bars above and below reach into the box.
    crop = crop_of(picture, (left, top + 0.2 * word.height, right, bottom - 0.2 * word.height))
    if not crop.size:
        return [word]
    is_clean = ~inked_columns(crop)
    # Letters differ in width, so the place of the bracket is only estimated. The widest gap near it is the one before it.
    expected = _width(match["number"]) / _width(word.text.strip()) * crop.shape[1]
    gaps = []
    for at in range(len(is_clean)):
        wide = int((~is_clean[at:]).argmax()) if is_clean[at] else 0
        if (at == 0 or not is_clean[at - 1]) and abs(at + wide / 2 - expected) <= word.height:
            gaps.append((wide, at))
    wide, at = max(gaps, default=(0, 0))
    if not match["number"].strip()[-1].isdigit() or match["share"][0] in "±+":
        # The gap before the unit, or between two digits, is about as wide: take the one nearest to the expected place.
        alike = [gap for gap in gaps if gap[0] >= (2 if match["share"][0] in "±+" else _AS_WIDE * wide)]
        wide, at = min(alike, key=lambda gap: abs(gap[1] + gap[0] / 2 - expected), default=(wide, at))
    if wide < 2:
        return [word]
    column = int(left)
    ends = (column + at + min(2, wide // 2), column + at + wide - 1)
    number = replace(word, text=match["number"].strip(), box=(left, top, float(ends[0]), bottom))
    return [number, replace(word, text=match["share"], box=(float(ends[1]), top, right, bottom))]


def _word(corners: Any, text: str, score: float) -> Word:
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    along = corners[1] - corners[0]
    slanted = abs(along[1]) > 0.18 * max(abs(along[0]), 1) or (bottom - top > 1.6 * (right - left) and len(text) > 2)
    return Word(text, (float(left), float(top), float(right), float(bottom)), score, bool(slanted))
