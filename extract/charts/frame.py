"""A picture as if its bars ran from left to right, and the way back to its own pixels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuledger.extract.charts.outcome import Box
from gpuledger.extract.charts.picture import Pixels
from gpuledger.extract.charts.words import Word


@dataclass(frozen=True, slots=True)
class Frame:
    """`turned` where the bars stand: the picture is then turned by a quarter, clockwise, and its words with it."""

    picture: Pixels
    turned: bool = False

    def pixels(self) -> Pixels:
        """The picture, turned where the bars stand."""
        return np.ascontiguousarray(np.rot90(self.picture, -1)) if self.turned else self.picture

    def into(self, word: Word) -> Word:
        """A word of the picture at its place here. Its letters stay upright: only its box is turned."""
        if not self.turned:
            return word
        left, top, right, bottom = word.box
        height = self.picture.shape[0]
        return replace(word, box=(height - bottom, left, height - top, right))

    def back(self, box: Box) -> Box:
        """A box of here at its place in the picture."""
        if not self.turned:
            return box
        left, top, right, bottom = box
        height = self.picture.shape[0]
        return top, height - right, bottom, height - left
