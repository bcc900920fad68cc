"""Prices of tokens beyond those of a short prompt at any hour, as the text that a row of core.token_price keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple


class Rate(NamedTuple):
    """What a million tokens of a kind cost under a condition.

    `tokens` is `input`, `cache read`, `cache write`, `cache write 1 h` or `output`. It holds for the whole of a request
    whose prompt has more than `above_tokens`, between two times of the day (UTC, `16:30`; it may pass midnight), on some
    `utc_days`, for a `service` such as `batch`, and from the day `since` on until the next rate that is alike.
    """

    tokens: str
    price: Decimal
    above_tokens: int = 0
    utc_from: str | None = None
    utc_until: str | None = None
    utc_days: str | None = None
    service: str = "standard"
    since: date | None = None


def as_text(rates: Iterable[Rate]) -> str | None:
    """The rates as JSON in an order of their own, so that a list in another order is no change. None if there are none."""
    rows = [
        {name: _text(value) for name, value in rate._asdict().items() if value != Rate._field_defaults.get(name)}
        for rate in rates
    ]
    return json.dumps(sorted(rows, key=str)) if rows else None


def _text(value: str | int | Decimal | date) -> str | int:
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, date) else value
