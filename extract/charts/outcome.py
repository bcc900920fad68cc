"""What reading one chart picture gives, as plain values that go between the two processes as JSON, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

#: Real charts have 1,000 to 4,000 pixels a side.
LONGEST_SIDE = 8_000
MOST_PIXELS = 16_000_000
MOST_BYTES = 20_000_000
#: A narrower picture shows the ends of bars too coarsely to prove a number by its bar.
LEAST_WIDTH = 1_000
#: Seconds of processor time for one picture, including the start of the process. One thread reads, so the caller waits at
#: least as long.
MOST_SECONDS = 55
#: Seconds of real time after which we give up, on a machine that is too busy to give the process its processor time.
MOST_WAIT = 300
#: Bytes of memory that the process may use for its data.
MOST_MEMORY = 1_500_000_000


class BadPicture(Exception):
    """Nothing can be read from this picture. `code` is the code for an issue."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


#: Left, top, right and bottom in pixels of the picture.
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Value:
    """One printed value: its place, its reading, and whether the picture confirms it.

    `text` is the number as printed, `number` the same number with a decimal point and no other sign, and `second_text` the
    second reading. `series` counts the bars of a row from 0, which is the inner or the first bar. `bar_px` is the bar's
    length, and `residual_px` its difference from the length that the number has on the chart's scale. `reason` is empty for
    an accepted value.
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
        """The same value, quarantined. An earlier reason stays."""
        return self if self.status == "quarantined" else replace(self, status="quarantined", reason=reason)


@dataclass(frozen=True, slots=True)
class ChartReading:
    """Everything that was read from one picture. `px_per_unit` is the fitted scale, or None if no scale fits.

    `problem` says why no value of the picture can be accepted. It is empty otherwise.
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
        """The reading as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> ChartReading:
        """The inverse of `to_json`."""
        values = (
            Value(**{**value, "box": value["box"] and tuple(value["box"]), "bar": tuple(value["bar"])})
            for value in written["values"]
        )
        return cls(**{**written, "values": tuple(values)})
