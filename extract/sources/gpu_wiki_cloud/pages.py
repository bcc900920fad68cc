"""Parser of the wiki page's tables of hourly cloud prices.

The caption or the heading of a table names the provider, and the words of a column's header name the pricing model, in
Korean or English. A price is for one hour of one GPU, unless a column counts the GPUs of the instance. A cell `N/A` becomes
an offer without a price, since the page says that there is none. The other columns (discounts, totals) become the offer's
note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuledger.errors import LayoutChanged
from gpuledger.extract.markup.html import soup
from gpuledger.extract.markup.tables import Row, Table, read_tables
from gpuledger.extract.readers.cloud import read_rate
from gpuledger.extract.source import Page
from gpuledger.items import CloudOffer, Issue, Parsed, PricingModel

_PROVIDERS = (
    ("aws", re.compile(r"\baws\b|amazon|아마존", re.IGNORECASE)),
    ("azure", re.compile(r"azure|애저", re.IGNORECASE)),
    ("gcp", re.compile(r"\bgcp\b|google|구글", re.IGNORECASE)),
)
_COUNT = re.compile(r"^gpu\s*(?:수|개수|count)|^gpus$", re.IGNORECASE)
_GPU = re.compile(r"^(?:gpu|그래픽\s?카드|가속기|모델)", re.IGNORECASE)
_REGION = re.compile(r"리전|지역|region", re.IGNORECASE)
_INSTANCE = re.compile(r"인스턴스|instance", re.IGNORECASE)
# Totals, monthly sums and discounts are not hourly prices, whatever term their header names.
_NOT_HOURLY = re.compile(r"총액|합계|total|할인|discount|월|month|비고|note", re.IGNORECASE)
_MODELS: tuple[tuple[PricingModel, re.Pattern[str]], ...] = (
    ("reserved_1y", re.compile(r"1\s?년|\b1[- ]?y(?:ea)?r", re.IGNORECASE)),
    ("reserved_3y", re.compile(r"3\s?년|\b3[- ]?y(?:ea)?r", re.IGNORECASE)),
    ("spot", re.compile(r"선점|스팟|spot|preemptible", re.IGNORECASE)),
    ("on_demand", re.compile(r"온\s?디맨드|on[- ]?demand|정가", re.IGNORECASE)),
)
_ONE_GPU = re.compile(r"gpu\s?당|gpu\s?1\s?개|per gpu", re.IGNORECASE)
_NONE = re.compile(r"n/?a|없음|미제공", re.IGNORECASE)


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the CloudOffer items of every provider's table.

    Raises LayoutChanged if no table has a GPU column and a pricing model.
    """
    has_tables = False
    for table in read_tables(soup(page.content, page.headers.get("content-type"))):
        provider = next((name for name, pattern in _PROVIDERS if pattern.search(table.title)), None)
        gpu = table.find(_GPU)
        models = {i: model for i, header in enumerate(table.header) if (model := _model(header)) is not None}
        if provider is None or gpu is None or not models:
            continue
        has_tables = True
        for row in table.rows:
            for column, model in models.items():
                yield from _offer(_Price(provider, model, column), table, row, page)
    if not has_tables:
        raise LayoutChanged(page.url, "no table of a provider with a GPU column and hourly prices")


def _model(header: str) -> PricingModel | None:
    if _NOT_HOURLY.search(header):
        return None
    return next((model for model, pattern in _MODELS if pattern.search(header)), None)


class _Price(NamedTuple):
    """A column of prices: its provider, its pricing model and its position in the table."""

    provider: str
    model: PricingModel
    column: int


def _offer(price: _Price, table: Table, row: Row, page: Page) -> Iterator[CloudOffer | Issue]:
    provider, model, column = price
    gpu_name, text = _cell(table, row, _GPU), row[column]
    if not gpu_name or not text.strip("-–— "):
        return
    where = f"{table.title}, {gpu_name}, {table.header[column]}"
    rate = None
    if not _NONE.fullmatch(text):
        rate = read_rate(text)
        if rate is None:
            message = f"{where}: no single price with a currency in {text!r}"
            yield Issue(code="unreadable_price", message=message, where=where, text=text, url=page.url)
            return
    count = _cell(table, row, _COUNT) or "1"
    if not count.isascii() or not count.isdigit() or int(count) < 1:
        message = f"{where}: {count!r} is no number of GPUs"
        yield Issue(code="unreadable_count", message=message, where=where, text=count, url=page.url)
        return
    # What the other columns say: `할인율: 60%`.
    terms = [f"{header}: {row[i]}" for i, header in enumerate(table.header) if _NOT_HOURLY.search(header) and row[i]]
    yield CloudOffer(
        provider=provider,
        gpu_name=gpu_name,
        gpu_count=1 if _ONE_GPU.search(table.header[column]) else int(count),
        pricing_model=model,
        region=_cell(table, row, _REGION) or None,
        instance=_cell(table, row, _INSTANCE) or None,
        price=rate.amount or None if rate else None,
        currency=rate.currency if rate else None,
        price_text=text,
        note="; ".join(terms) or None,
    )


def _cell(table: Table, row: Row, pattern: re.Pattern[str]) -> str:
    column = table.find(pattern)
    return "" if column is None else row[column]
