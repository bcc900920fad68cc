"""What was read from one chart picture: plain values, which go between the two processes as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

#: Left, top, right and bottom in pixels of the picture.
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Value:
    """One printed value: where it stands, what it was read as, and whether the picture confirms it.

    `text` is the number as printed, `number` the same with a decimal point and no other sign, `second_text` the second
    reading; `series` counts the bars of a row from 0, the inner
    or the first one. `bar_px` is the bar's length, `residual_px` what it differs from the length that the chart's scale
    gives to the number. `reason` is empty for an accepted value.
    """

    label: str
    series: int
    text: str | None
    number: str | None
    second_text: str | None
    unit: str | None
    box: Box | None
    bar: Box
    bar_px: float
    residual_px: float | None
    status: Literal["accepted", "quarantined"]
    reason: str

    def refused(self, reason: str) -> Value:
        """The same, quarantined; an earlier reason stays."""
        return self if self.status == "quarantined" else replace(self, status="quarantined", reason=reason)


@dataclass(frozen=True, slots=True)
class ChartReading:
    """All that was read from one picture; `px_per_unit` is the fitted scale, None where none fits.

    `problem` says why nothing of the picture can be accepted, and is empty otherwise.
    """

    width: int
    height: int
    title: str | None
    subtitle: str | None
    unit: str | None
    px_per_unit: float | None
    values: tuple[Value, ...]
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> ChartReading:
        """What `to_json` wrote."""
        values = (
            Value(**{**value, "box": value["box"] and tuple(value["box"]), "bar": tuple(value["bar"])})
            for value in written["values"]
        )
        return cls(**{**written, "values": tuple(values)})
