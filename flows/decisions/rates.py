"""Hourly rates of the user's own contracts: a CSV in the data directory, which the source `own_rates` reads every night."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gpuledger.extract import local_files
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.message import Failure, Message
from gpuledger.extract.sources.own_rates.pages import COLUMNS
from gpuledger.warehouse.paths import DataDir

#: The source by whose conventions names of cards are read.
SOURCE = "own_rates"


class BadRates(Failure):
    """The file of rates cannot be read. The message names the file and the way out."""

    status = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One contract: `price` is for an hour of all `gpu_count` GPUs together. After the day `ends_on` it is no offer."""

    provider: str
    gpu_name: str
    gpu_count: int
    price: Decimal
    currency: str
    pricing_model: str
    region: str
    instance: str
    ends_on: date | None
    note: str
    added_on: date

    @property
    def place(self) -> tuple[str, ...]:
        """The cells that identify a rate. A new price with the same cells replaces the old one."""
        return (self.provider, self.gpu_name, str(self.gpu_count), self.pricing_model, self.region, self.instance)

    def cells(self) -> list[str]:
        """The row as the file has it."""
        return ["" if (value := getattr(self, name)) is None else str(value) for name in COLUMNS]


def rows_of(data: DataDir) -> list[list[str]]:
    """The rows of the file of rates, with the columns in their order. Raises BadRates if it is no such file."""
    path = data.rates_file
    if not path.exists():
        return []
    try:
        rows = list(
            csv.reader(io.StringIO(local_files.read_bytes(path, follow=False).decode("utf-8-sig")), strict=True)
        )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadRates(Message(
            "{path} cannot be read ({error}); correct it, or remove it and add the rates again", path=path, error=error,
        )) from None  # fmt: skip
    if not rows or tuple(rows[0]) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows[1:]):
        raise BadRates(Message(
            "{path} must have the columns {columns}; correct it, or remove it and add the rates again", path=path,
            columns=tuple(COLUMNS),
        ))  # fmt: skip
    return rows[1:]


def add(data: DataDir, rate: Rate) -> bool:
    """Store a rate. Returns whether it replaced an earlier one. Raises BadRates."""
    rows = rows_of(data)
    others = [row for row in rows if _place(row) != rate.place]
    _write(data, [*others, rate.cells()])
    return len(others) < len(rows)


def remove(data: DataDir, number: int) -> list[str]:
    """Remove the rate of that number, counted from 1, and return its row. Raises BadRates if there is none."""
    rows = rows_of(data)
    if not 1 <= number <= len(rows):
        raise BadRates(Message(
            "there is no rate {number}: {rates_file} has {count}", number=number, rates_file=data.rates_file,
            count=len(rows),
        ))  # fmt: skip
    removed = rows.pop(number - 1)
    _write(data, rows)
    return removed


def _place(row: list[str]) -> tuple[str, ...]:
    cells = dict(zip(COLUMNS, row, strict=True))
    return tuple(cells[name] for name in ("provider", "gpu_name", "gpu_count", "pricing_model", "region", "instance"))


def _write(data: DataDir, rows: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([COLUMNS, *rows])
    data.rates.mkdir(parents=True, exist_ok=True)
    archive_files.write(data.rates_file, out.getvalue().encode())
