"""Our own data files, which correct the specification catalogue and fill its gaps. They are checked against it."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.naming import DATA


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file of the overlay. Lines that start with # are comments."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if line.strip() and not line.startswith("#"))


@cache
def sold_memory() -> dict[tuple[str, str], tuple[float, ...]]:
    """Memory sizes in GiB that a name was sold with, by vendor and name, if the catalogue lists only some of them."""
    return {
        (row["vendor"], row["name"]): tuple(float(size) for size in row["memory_gb"].split())
        for row in rows_of("memory.csv")
    }


@cache
def memory_also() -> dict[str, tuple[float, ...]]:
    """Other figures in GB that shops state for the memory of a card, by gpu_id."""
    return {
        row["gpu_id"]: tuple(float(size) for size in row["memory_gb"].split()) for row in rows_of("memory_also.csv")
    }


def _integer(text: str) -> int:
    return int(text)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "Decimal | None": Decimal,
    "date | None": date.fromisoformat,
    "float | None": float,
    "int | None": _integer,
    "int": _integer,
}


def parse(column: str, text: str) -> Any:
    """The typed value of a column of `Gpu`; None if the text is empty."""
    return _PARSERS.get(_TYPES[column], str)(text) if text else None


_TYPES: dict[str, str] = {field.name: str(field.type) for field in dataclasses.fields(Gpu)}


def apply(cards: list[Gpu]) -> list[Gpu]:
    """The cards with corrections, additions, prices and tensor rates, in the order of their gpu_id.

    Raises ValueError for an unknown gpu_id, and if two cards share one.
    """
    by_id: dict[str, dict[str, Any]] = {}
    for card in cards:
        if card.gpu_id in by_id:
            raise ValueError(f"two cards share the gpu_id {card.gpu_id}: {card.name}")
        by_id[card.gpu_id] = {field.name: getattr(card, field.name) for field in dataclasses.fields(Gpu)}
    for row in rows_of("additions.csv"):
        if (
            row["gpu_id"] not in by_id
        ):  # the package may have added it since; `overlay_disagreements` then reports the row
            values = {column: parse(column, value) for column, value in row.items() if column in _TYPES}
            by_id[row["gpu_id"]] = {column: value for column, value in values.items() if value is not None}
    for row in rows_of("corrections.csv"):
        _known(by_id, row["gpu_id"], "corrections.csv")[row["column"]] = parse(row["column"], row["value"])
    for file in ("msrp.csv", "tensor.csv"):
        for row in rows_of(file):
            card_values = _known(by_id, row["gpu_id"], file)
            card_values.update(
                {column: parse(column, value) for column, value in row.items() if value and column != "gpu_id"}
            )
    return sorted((Gpu(**values) for values in by_id.values()), key=lambda card: card.gpu_id)


def _known(by_id: dict[str, dict[str, Any]], gpu_id: str, file: str) -> dict[str, Any]:
    if gpu_id not in by_id:
        raise ValueError(f"{file}: no card has the gpu_id {gpu_id!r}; correct it, or add the card to additions.csv")
    return by_id[gpu_id]
