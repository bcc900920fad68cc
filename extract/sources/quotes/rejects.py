"""Rows of a vendor's file that are not offers, each with its reason, and the file in which they go back to a person."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gpuledger.extract.items import Offer


class Rejected(NamedTuple):
    """A row that is not an offer. `row` counts from 1 as a spreadsheet does. `cells` are pairs of column name and text."""

    sheet: str
    row: int
    reason: str
    cells: tuple[tuple[str, str], ...]


def merge_offers(rows: Sequence[tuple[Offer, Rejected]]) -> tuple[list[Offer], list[Rejected]]:
    """Return one offer for each vendor, product, condition and quantity, and the rows that repeat or contradict others."""
    groups: dict[tuple[str, int | None], list[tuple[Offer, Rejected]]] = {}
    for offer, row in rows:
        groups.setdefault((offer.key, offer.quantity), []).append((offer, row))
    offers: dict[str, Offer] = {}
    rejected: list[Rejected] = []
    for (key, quantity), group in groups.items():
        first, _ = group[0]
        prices = sorted({f"{offer.price} {offer.currency}" for offer, _ in group})
        if len(prices) > 1:
            reason = f"the file has {len(prices)} prices for this product, condition and quantity: {', '.join(prices)}"
            rejected += [row._replace(reason=reason) for _, row in group]
            continue
        rejected += [row._replace(reason="the row repeats another one") for _, row in group[1:]]
        # A price for a larger quantity is a listing of its own. Otherwise the key leaves the quantity out, since stock
        # changes.
        own = key if key not in offers else f"{key} | {quantity}"
        offers[own] = dataclasses.replace(first, key=own)
    return list(offers.values()), rejected


def rejects_csv(rejected: Sequence[Rejected], target: Path) -> None:
    """Write the rows to `target`, as UTF-8 with Excel's mark. The file's own columns follow the reason.

    A spreadsheet cannot run any cell of the file as a formula.
    """
    columns = list(dict.fromkeys(name for row in rejected for name, _ in row.cells))
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sheet", "row", "reason", *map(_harmless, columns)])
        for row in rejected:
            cells = dict(row.cells)
            texts = (row.sheet, str(row.row), row.reason, *(cells.get(name, "") for name in columns))
            writer.writerow(map(_harmless, texts))


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
