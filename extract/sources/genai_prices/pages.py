"""Parser of the genai-prices list, in JSON.

A model has prices of a million tokens in US dollars, or a list of them, of which the last that holds counts: from a day on,
or between two times of the day. A price may rise with the prompt (`tiers`), and have variants: those in a batch are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers
from gpuledger.extract.readers.token_rates import Rate, as_text
from gpuledger.extract.source import Page
from gpuledger.items import Parsed, TokenPrice

_KINDS = {
    "input_mtok": "input", "output_mtok": "output", "cache_read_mtok": "cache read", "cache_write_mtok": "cache write",
    "cache_write_1h_mtok": "cache write 1 h",
}  # fmt: skip


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the TokenPrice items of the list, and an issue that counts what was left out.

    Raises LayoutChanged if the answer is not a JSON list of providers with their models, or if a price is no number.
    """
    left_out: Counter[str] = Counter()
    with answers.understood(page, "no list of prices of providers"):
        for provider in json.loads(page.content, parse_float=json_number, parse_int=json_number):
            for model in provider["models"]:
                if model.get("deprecated"):
                    left_out["that their provider gives up"] += 1
                    continue
                yield from _price(str(provider["id"]), model, page.fetched_at.date(), left_out)
    yield from answers.left_out(left_out, "models", page)


def _price(provider: str, model: Mapping[str, Any], today: date, left_out: Counter[str]) -> Iterator[TokenPrice]:
    rates = list(_conditional(model["prices"], "standard"))
    for variant in model.get("price_variants") or ():
        if variant["when"] == {"processing": "batch"}:
            rates += _conditional([variant], "batch")
    # Of the prices of a short prompt at any hour, those of the last day until today count.
    plain = [rate for rate in rates if rate == Rate(rate.tokens, rate.price, since=rate.since) and _day(rate) <= today]
    newest = max(map(_day, plain), default=date.min)
    now = {rate.tokens: rate.price for rate in plain if _day(rate) == newest}
    if not now.get("input") or not now.get("output"):
        left_out["without a price for reading and writing"] += 1
        return
    has_days = any(rate.since for rate in rates)
    yield TokenPrice(
        provider=provider,
        model=str(model["id"]),
        input_price=now["input"],
        cached_input_price=now.get("cache read"),
        output_price=now["output"],
        currency="USD",
        price_text=json.dumps(model["prices"], default=str),
        rates=as_text(rate for rate in rates if has_days or rate not in plain or rate.tokens.startswith("cache write")),
    )


def _day(rate: Rate) -> date:
    return rate.since or date.min


def _conditional(prices: Any, service: str) -> Iterator[Rate]:
    """The rates of a statement of prices, those of the day from which one before it holds."""
    since: date | None = None
    for stated in prices if isinstance(prices, list) else [{"prices": prices}]:
        condition = stated.get("constraint") or {}
        if "start_date" in condition:
            since = date.fromisoformat(str(condition["start_date"]))
        begin, end = (_clock(condition[name]) if name in condition else None for name in ("start_time", "end_time"))
        for name, tokens in _KINDS.items():
            amount = stated["prices"].get(name)
            steps = amount if isinstance(amount, dict) else {"base": amount, "tiers": []}
            if steps["base"] is not None:
                rate = Rate(tokens, Decimal(steps["base"]), 0, begin, end, None, service, since)
                yield rate
                for tier in steps["tiers"]:
                    yield rate._replace(price=Decimal(tier["price"]), above_tokens=int(tier["start"]))


def _clock(text: object) -> str:
    """`16:30` of `16:30:00Z`. Raises ValueError for what is no time of a day in UTC."""
    clock = time.fromisoformat(str(text))
    if clock.utcoffset():
        raise ValueError(f"{text!r} is not in UTC")
    return f"{clock:%H:%M}"
