"""Rules that apply only to the names of clouds: slices of cards, and data-center parts that are named by a bare number."""

from __future__ import annotations

import re

from gpuledger.transform.identity.choice import Choice

# NVIDIA's names of virtual GPU profiles (`A10-4Q`, `T4-8C`) and multi-instance profiles (`A100 MIG 1g.5gb`), and fractions.
# Source: NVIDIA, Virtual GPU Software User Guide, and Multi-Instance GPU User Guide.
_SLICE = re.compile(
    r"-\d{1,2}[qcab]\b|\b[1-7]g\.\d{1,3}gb\b|\bmig\b|\bvgpu\b|(?<![\d/])[1-9]/(?!1\b)\d{1,2}(?![\d/])|\bfraction", re.I
)


def is_slice(title: str) -> bool:
    """Whether the title rents out only a part of a card, so that price and memory are not those of the card."""
    return _SLICE.search(title) is not None


def narrow(choice: Choice) -> None:
    """Keep the data-center part if makers share a bare number (`A40` is NVIDIA's and Intel's): clouds mean that one."""
    if len({member.maker for member in choice.members}) > 1:
        choice.narrow(
            [member for member in choice.members if member.gpu.segment == "data_center"],
            "a cloud's bare number is the data-center part",
        )
