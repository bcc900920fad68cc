"""One figure of a measurement file, with everything that the file says about how it was measured."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Literal


class NotReadable(ValueError):
    """The file does not have the format, or one of its rows cannot be read. The message says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: `score` in `unit`, of `gpu_count` cards together. Card and count are None if the file does not say them.

    The file proposes `workload_id` and `workload` (in words). `direction` is `less` for a time. `is_single_stream` is true
    if one request was answered at a time, so that the figure is the speed of a card and not of a server. `is_written` is
    true if it counts the tokens that are written, for all requests together. `claim` says whose
    figure it is, if its row says so. `layers_on_card` is how many layers of the model were on the card, if the file says it;
    the other layers ran on the processor. `device_gb` is the memory that the driver printed beside the card's name.
    `missing` are the options of `measure import` without which the figure has no workload. `where` is its place in the file.
    """

    workload_id: str
    workload: str
    unit: str
    score: Decimal
    gpu_name: str | None = None
    gpu_count: int | None = None
    direction: Literal["more", "less"] = "more"
    is_single_stream: bool = False
    is_written: bool = False
    model: str | None = None
    precision: str | None = None
    software: str | None = None
    batch_size: int | None = None
    context_tokens: int | None = None
    prompt_tokens: int | None = None
    concurrent_users: int | None = None
    measured_on: date | None = None
    measured_by: str | None = None
    claim: str | None = None
    layers_on_card: int | None = None
    device_gb: float | None = None
    missing: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFigure(Figure):
    """A figure as the program stores it: complete, with the claim and the file that it came from."""

    gpu_name: str
    gpu_count: int
    claim: str
    measured_on: date
    origin: str = ""
    origin_sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person says of all runs of a file, for what the file leaves open. Lengths are in tokens of one request."""

    model: str | None = None
    precision: str | None = None
    software: str | None = None
    input: int | None = None
    output: int | None = None
    users: int | None = None


NOTHING = Said()


@dataclass(slots=True)
class MeasurementFile:
    """A measurement file as read: its figures, and a line of text for each row that is not a figure.

    `claim` says whose figures files of this format usually hold.
    """

    format: str
    figures: list[Figure] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    claim: str = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRun:
    """A run against a server, as its file says it: `rate` in tokens a second, and lengths of a request in tokens.

    `load` says how requests came if no number of them is held at once, and `setting` says that in the workload's name.
    """

    server: str
    rate: Any
    where: str
    model: str | None = None
    read: int | None = None
    written: int | None = None
    users: int | None = None
    precision: str | None = None
    software: str | None = None
    load: str = "as fast as possible"
    setting: str = ""

    def figure(self, said: Said, **more: Any) -> Figure:
        """Return the rate at which the server writes for all requests together. What the file leaves open is as `said`."""
        model, users = self.model or said.model, self.users or said.users
        read, written = self.read or said.input, self.written or said.output
        lengths = f"{read or 'any number of'} tokens read and {written or 'any number of'} written a request"
        load = f"at most {users} at once" if users else self.load
        named, asked = (model or "").rpartition("/")[2], f"c{users}" if users else self.setting
        return Figure(
            workload_id=slug(self.server, named, f"{read or 'any'}-{written or 'any'}", asked),
            workload=f"{model or 'a model without a name'}, served by {self.server}: {lengths}, {load}",
            unit="tokens/s", score=amount(self.rate, "the rate", self.where), model=model,
            precision=self.precision or said.precision, software=self.software or said.software or self.server,
            context_tokens=read + written if read and written else None, prompt_tokens=read, concurrent_users=users,
            is_single_stream=users == 1, is_written=True, where=self.where, **more,
        )  # fmt: skip


def slug(*parts: object) -> str:
    """Return words as an id: small letters, digits, dots and hyphens."""
    text = "-".join(str(part) for part in parts if part not in (None, ""))
    return (
        re.sub(r"-+", "-", re.sub(r"[^a-z0-9.]+", "-", text.lower())).strip("-.").replace(".-", "-").replace("-.", "-")
    )


def amount(value: Any, what: str, where: str) -> Decimal:
    """Return a number above zero. Raises NotReadable for any other value."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise NotReadable(f"{where}: {what} is no number: {value!r}") from None
    if not number.is_finite() or number <= 0:
        raise NotReadable(f"{where}: {what} must be above zero, not {value!r}")
    return number.quantize(Decimal("0.000001")).normalize() if number.as_tuple().exponent < -6 else number  # type: ignore[operator]


def whole(value: Any) -> int | None:
    """Return a whole number; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return int(number) if number.is_finite() and number == number.to_integral_value() else None


def quantisation(text: str) -> str | None:
    """Return the quantisation that a text of llama.cpp names, by its short name: `Q4_K - Medium` is Q4_K_M."""
    match = re.search(r"\b(I?Q\d(?:_\w+)?|F16|BF16)(?: - (Small|Medium|Large))?", text)
    return match[1] + (f"_{match[2][0]}" if match[2] else "") if match else None


def day(text: Any) -> date | None:
    """Return the day of an ISO time, or of a time such as 20250131-235959, which vLLM writes; None for anything else."""
    match = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", str(text or ""))
    try:
        return date(*(int(part) for part in match.groups())) if match else None
    except ValueError:
        return None
