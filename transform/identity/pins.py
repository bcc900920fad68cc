"""Pins: titles that a person has assigned to a card, in decisions/pins.toml.

[[pin]]
title = "Gigabyte WINDFORCE OC"
gpu_id = "nvidia-geforce-rtx-4070"      # or "not_a_gpu"
source = "newegg"                       # optional: only in this source
pinned_on = 2026-11-20
reason = "the product page says so"
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from gpuledger import records
from gpuledger.message import Mistake
from gpuledger.transform.identity import catalogue

NOT_A_GPU = "not_a_gpu"


class PinError(Mistake):
    """A pin says too little, or names no card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A person's decision that a title means `gpu_id` (or `not_a_gpu`), everywhere or in one source."""

    title: str
    gpu_id: str
    pinned_on: date
    reason: str
    source: str | None = None

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise PinError("a pin needs a title")
        if not self.reason.strip():
            raise PinError(
                "the pin of {title!r} needs a reason: whoever reads it later must know why", title=self.title
            )
        if self.gpu_id != NOT_A_GPU and self.gpu_id not in catalogue.by_id():
            raise PinError(
                "{gpu_id!r}, pinned for {title!r}, is no gpu_id of the catalogue and not {not_a_gpu!r}",
                gpu_id=self.gpu_id, title=self.title, not_a_gpu=NOT_A_GPU,
            )  # fmt: skip

    @property
    def place(self) -> tuple[str, str]:
        """The key of the pin; see `place_of`."""
        return place_of(self.title, self.source)


def place_of(title: str, source: str | None) -> tuple[str, str]:
    """The key of a pin: its source, and its title without blanks at the ends and repeated blanks."""
    return (source or "", " ".join(title.split()))


#: The pins of a data directory.
PINS = records.Kind("pin", "pins.toml", key=lambda pin: pin.place, read=records.typed(Pin))
