"""Parser of a file of own rates: `provider`, `gpu_name`, `price` for an hour of the whole instance, and `currency`.

It may also have `gpu_count` (1 if it is not said), `pricing_model` (`on_demand`; a reservation is paid around the clock),
`region`, `instance`, `ends_on` (the last day on which it can be had) and `note`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import get_args

from gpuledger.errors import LayoutChanged
from gpuledger.extract.source import Page
from gpuledger.items import CloudOffer, Issue, Parsed, PricingModel

_NEEDED = ("provider", "gpu_name", "price", "currency")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield a CloudOffer for each row whose contract has not ended, and an issue for each row that cannot be read.

    Raises LayoutChanged if a column is missing.
    """
    try:
        rows = csv.DictReader(io.StringIO(page.content.decode("utf-8-sig"), newline=""), strict=True)
        if missing := [name for name in _NEEDED if name not in (rows.fieldnames or ())]:
            raise LayoutChanged(page.url, f"no column {', '.join(missing)}", "write them into its first line")
        for row in rows:
            try:
                if (offer := _offer(row, page.fetched_at.date())) is not None:
                    yield offer
            except ValueError as error:
                where, text = f"line {rows.line_num}", ", ".join(str(cell) for cell in row.values() if cell)
                message = f"{where} of {page.url}: {error}; correct it"
                yield Issue(code="unreadable_rate", message=message, where=where, text=text, url=page.url)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LayoutChanged(page.url, f"it is no CSV in UTF-8 ({error})", "correct it") from error


def _offer(row: dict[str, str], today: date) -> CloudOffer | None:
    """Return the offer of a row; None if its contract has ended. Raises ValueError."""
    cells = {name: value.strip() for name, value in row.items() if isinstance(value, str) and value.strip()}
    ends_on, model = cells.get("ends_on"), cells.get("pricing_model", "on_demand")
    if model not in get_args(PricingModel):
        raise ValueError(f"pricing_model must be one of {', '.join(get_args(PricingModel))}, not {model!r}")
    if lacking := [name for name in _NEEDED if name not in cells]:
        raise ValueError(f"{', '.join(lacking)} is empty")
    try:
        price, count = Decimal(cells["price"]), int(cells.get("gpu_count", "1"))
        has_ended = ends_on is not None and date.fromisoformat(ends_on) < today
    except (ValueError, InvalidOperation):
        raise ValueError(
            "price and gpu_count are plain numbers, as in 14.40 and 8, and ends_on is a day, as in 2027-06-30"
        ) from None
    if has_ended:
        return None
    return CloudOffer(
        provider=cells["provider"],
        gpu_name=cells["gpu_name"],
        gpu_count=count,
        pricing_model=model,  # type: ignore[arg-type]  # checked above
        region=cells.get("region"),
        instance=cells.get("instance"),
        price=price,
        currency=cells["currency"].upper(),
        price_text=f"{cells['price']} {cells['currency']}",
        note="; ".join(filter(None, (cells.get("note"), f"until {ends_on}" if ends_on else ""))) or None,
    )
