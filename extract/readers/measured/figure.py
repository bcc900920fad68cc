"""One figure of a measurement file, with all that the file says about how it was measured."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any


class NotReadable(ValueError):
    """The file is none of the format, or a row of it cannot be read; the message says the place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """`score` in `unit`, of `gpu_count` cards together; None where the file does not say the card or how many.

    `workload_id` and `workload` (in words) are proposed by the file. `direction` is `less` for a time. `is_single_stream`
    where one request was answered at a time, so that the figure is a card's speed and not a server's. `claim` is whose
    figure it is, where its row says so. `layers_on_card` are the layers of the model on the card, where the file says them:
    the rest ran on the processor.
    """

    workload_id: str
    workload: str
    unit: str
    score: Decimal
    gpu_name: str | None = None
    gpu_count: int | None = None
    direction: str = "more"
    is_single_stream: bool = False
    model: str | None = None
    precision: str | None = None
    software: str | None = None
    batch_size: int | None = None
    context_tokens: int | None = None
    concurrent_users: int | None = None
    measured_on: date | None = None
    measured_by: str | None = None
    claim: str | None = None
    layers_on_card: int | None = None
    where: str = ""


@dataclass(slots=True)
class Taken:
    """What a file gave: its figures, and a line for each row that is none. `claim` is whose figures such files hold, unless
    somebody says otherwise.
    """

    format: str
    figures: list[Figure] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    claim: str = "own"


def slug(*parts: object) -> str:
    """Words as an id: small letters, digits, dots and hyphens."""
    text = "-".join(str(part) for part in parts if part not in (None, ""))
    return (
        re.sub(r"-+", "-", re.sub(r"[^a-z0-9.]+", "-", text.lower())).strip("-.").replace(".-", "-").replace("-.", "-")
    )


def amount(value: Any, what: str, where: str) -> Decimal:
    """A number above zero. Raises NotReadable."""
    try:
        read = Decimal(str(value))
    except InvalidOperation:
        raise NotReadable(f"{where}: {what} is no number: {value!r}") from None
    if not read.is_finite() or read <= 0:
        raise NotReadable(f"{where}: {what} must be above zero, not {value!r}")
    return read.quantize(Decimal("0.000001")).normalize() if read.as_tuple().exponent < -6 else read  # type: ignore[operator]


def whole(value: Any) -> int | None:
    """A whole number, None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        read = Decimal(str(value))
    except InvalidOperation:
        return None
    return int(read) if read.is_finite() and read == read.to_integral_value() else None


def quantisation(words: str) -> str | None:
    """A file format of llama.cpp, of the words in which it prints it: `Q4_K - Medium` is Q4_K_M."""
    found = re.search(r"\b(I?Q\d(?:_\w+)?|F16|BF16)(?: - (Small|Medium|Large))?", words)
    return found[1] + (f"_{found[2][0]}" if found[2] else "") if found else None


def day(text: Any) -> date | None:
    """The day of an ISO time, or of the 20250131-235959 that vLLM writes; None for anything else."""
    found = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", str(text or ""))
    try:
        return date(*(int(part) for part in found.groups())) if found else None
    except ValueError:
        return None
