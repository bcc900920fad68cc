"""Turns a picture so that its bars run from left to right, and converts places back to the picture's own pixels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuledger.extract.charts.outcome import Box
from gpuledger.extract.charts.picture import Pixels
from gpuledger.extract.charts.words import Word


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
