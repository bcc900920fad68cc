"""Decodes the bytes of a picture into pixels. Refuses what is too large, animated, broken or not a picture."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from gpuledger.extract.charts.outcome import LONGEST_SIDE, MOST_BYTES, MOST_PIXELS, BadPicture

#: Rows of pixels of red, green and blue.
Pixels = NDArray[np.uint8]


def pixels(content: bytes) -> Pixels:
    """The picture's pixels, transparent parts on white. Raises BadPicture."""
    if len(content) > MOST_BYTES:
        raise BadPicture("too_large", f"{len(content):,} bytes; at most {MOST_BYTES:,} are read")
    Image.MAX_IMAGE_PIXELS = None  # the size is checked here, before a pixel is decoded
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP")) as opened:
            width, height = opened.size
            if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
                most = f"at most {LONGEST_SIDE:,} a side and {MOST_PIXELS:,} in all are read"
                raise BadPicture("too_large", f"{width:,}×{height:,} pixels; {most}")
            if getattr(opened, "n_frames", 1) > 1:
                raise BadPicture("animated", "the picture is animated, and a chart stands still")
            return np.asarray(_on_white(opened))
    except UnidentifiedImageError:
        raise BadPicture("no_picture", "this is no PNG, JPEG or WebP picture") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # If a picture ends early or contradicts itself, Pillow raises different errors for different formats.
        raise BadPicture("broken", f"the picture is broken ({error}); fetch or save it again") from None


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        with_alpha = picture.convert("RGBA")
        ground = Image.new("RGBA", with_alpha.size, "white")
        ground.alpha_composite(with_alpha)
        return ground.convert("RGB")
    return picture.convert("RGB")
