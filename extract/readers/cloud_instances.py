"""The GPUs of Azure's sizes, as its price list names only the size.

The facts come from Azure's own pages (learn.microsoft.com/azure/virtual-machines/sizes). The form factor is given if the
page states it. A type that is not in these tables is
unknown and is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Gpus:
    """The GPUs of one instance: their name, the memory of one GPU in GB, and their number."""

    name: str
    memory_gb: Decimal
    count: int


class _Series(NamedTuple):
    """An Azure series: a pattern of its size names (group 1 is the vCPU count), and its number of GPUs by vCPU count."""

    pattern: re.Pattern[str]
    name: str
    memory_gb: str
    counts: Mapping[int, int]


def _series(pattern: str, name: str, memory_gb: str, counts: Mapping[int, int]) -> _Series:
    return _Series(re.compile(rf"Standard_{pattern}", re.IGNORECASE), name, memory_gb, counts)


_AZURE = (
    _series(r"NC(\d+)r?(?:_Promo)?", "K80", "12", {6: 1, 12: 2, 24: 4}),
    _series(r"NC(\d+)r?s_v2", "P100", "16", {6: 1, 12: 2, 24: 4}),
    _series(r"NC(\d+)r?s_v3", "V100", "16", {6: 1, 12: 2, 24: 4}),
    _series(r"NC(\d+)as_T4_v3", "T4", "16", {4: 1, 8: 1, 16: 1, 64: 4}),
    _series(r"NC(\d+)ads_A100_v4", "A100 80GB PCIe", "80", {24: 1, 48: 2, 96: 4}),
    _series(r"NC(\d+)adi?s_H100_v5", "H100 NVL", "94", {40: 1, 80: 2}),
    _series(r"NCC(\d+)ads_H100_v5", "H100 NVL", "94", {40: 1}),
    _series(r"ND(\d+)r?s", "P40", "24", {6: 1, 12: 2, 24: 4}),
    _series(r"ND(\d+)rs_v2", "V100", "32", {40: 8}),
    _series(r"ND(\d+)asr_v4", "A100 SXM4 40GB", "40", {96: 8}),
    _series(r"ND(\d+)amsr_A100_v4", "A100 SXM4 80GB", "80", {96: 8}),
    _series(r"ND(\d+)isr_H100_v5", "H100 SXM5", "80", {96: 8}),
    _series(r"ND(\d+)isr_H200_v5", "H200 SXM", "141", {96: 8}),
    _series(r"ND(\d+)isr_MI300X_v5", "MI300X", "192", {96: 8}),
    _series(r"NV(\d+)(?:_Promo)?", "M60", "8", {6: 1, 12: 2, 24: 4}),
    _series(r"NV(\d+)s_v2", "M60", "8", {6: 1, 12: 2, 24: 4}),
    _series(r"NV(\d+)s_v3", "M60", "8", {12: 1, 24: 2, 48: 4}),
    # The smaller sizes have a share of one card.
    _series(r"NV(\d+)adm?s_A10_v5", "A10", "24", {36: 1, 72: 2}),
    _series(r"NV(\d+)as_v4", "MI25", "16", {32: 1}),
)


def azure(size: str) -> Gpus | None:
    """Return the whole GPUs of a size such as `Standard_NC24ads_A100_v4`; None for a share of a GPU or an unknown size."""
    for series in _AZURE:
        if match := series.pattern.fullmatch(size):
            count = series.counts.get(int(match[1]))
            return Gpus(series.name, Decimal(series.memory_gb), count) if count else None
    return None
