"""Parser of the file of own rates."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import get_args

from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import CloudOffer, Issue, Parsed, PricingModel
from gpuledger.extract.source import Page

#: The columns of the file, in their order.
COLUMNS = (
    "provider", "gpu_name", "gpu_count", "price", "currency", "pricing_model", "region", "instance", "ends_on", "note",
    "added_on",
)  # fmt: skip


def parse(page: Page) -> Iterator[Parsed]:
    """Yield a CloudOffer for each row whose contract has not ended, and an issue for each row that cannot be read.

    Raises LayoutChanged if a column is missing.
    """
    try:
        rows = csv.DictReader(io.StringIO(page.content.decode("utf-8-sig"), newline=""), strict=True)
        if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
            raise LayoutChanged(page.url, f"no column {', '.join(missing)}", "write them, or add the rates again")
        for row in rows:
            try:
                if (offer := _offer(row, page.fetched_at.date())) is not None:
                    yield offer
            except (ValueError, InvalidOperation) as error:
                where, text = f"line {rows.line_num}", ", ".join(str(cell) for cell in row.values() if cell)
                message = f"{where} of {page.url}: {error}; correct it, or add the rate again"
                yield Issue(code="unreadable_rate", message=message, where=where, text=text, url=page.url)
    except (UnicodeDecodeError, csv.Error) as error:
        raise LayoutChanged(
            page.url, f"it is no CSV in UTF-8 ({error})", "correct it, or add the rates again"
        ) from error


def _offer(row: dict[str, str], today: date) -> CloudOffer | None:
    """Return the offer of a row; None if its contract has ended. Raises ValueError, InvalidOperation."""
    cells = {name: (row[name] or "").strip() for name in COLUMNS}
    if cells["ends_on"] and date.fromisoformat(cells["ends_on"]) < today:
        return None
    if cells["pricing_model"] not in get_args(PricingModel):
        raise ValueError(
            f"pricing_model must be one of {', '.join(get_args(PricingModel))}, not {cells['pricing_model']!r}"
        )
    price = Decimal(cells["price"])
    if price <= 0:
        raise ValueError(f"an hour must cost more than nothing, not {price}")
    ends = f"until {cells['ends_on']}" if cells["ends_on"] else ""
    return CloudOffer(
        provider=cells["provider"],
        gpu_name=cells["gpu_name"],
        gpu_count=int(cells["gpu_count"]),
        pricing_model=cells["pricing_model"],  # type: ignore[arg-type]  # checked above
        region=cells["region"] or None,
        instance=cells["instance"] or None,
        price=price,
        currency=cells["currency"],
        price_text=f"{cells['price']} {cells['currency']}",
        note="; ".join(filter(None, (cells["note"], ends))) or None,
    )
