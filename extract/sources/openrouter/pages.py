"""Parser of OpenRouter's list of models, in JSON.

A price is a text, in US dollars for one token. A model without cost has 0 and is served at somebody's pleasure, with limits
a day, and a router, which picks a model itself, has -1: neither is a price. `hugging_face_id` says which weights are served;
it is empty for models whose weights nobody has.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from gpuledger.extract.items import Issue, Parsed, TokenPrice
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers
from gpuledger.extract.source import Page

_TOKENS = 1_000_000


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the TokenPrice items of a page of the list, an issue that counts what was left out, and the next page's link.

    Raises LayoutChanged if the answer is not a JSON object with `data`, or if a model lacks its id or its prices.
    """
    left_out: Counter[str] = Counter()
    with answers.understood(page, "no list of hosted models"):
        answer = json.loads(page.content, parse_float=json_number, parse_int=json_number)
        for model in answer["data"]:
            yield from _price(str(model["id"]), model, model["pricing"], left_out)
        following = (answer.get("links") or {}).get("next")
    yield from answers.left_out(left_out, "models", page)
    yield from answers.next_page(page, following)


def _price(
    name: str, model: Mapping[str, Any], pricing: Mapping[str, Any], left_out: Counter[str]
) -> Iterator[TokenPrice | Issue]:
    read, written = _per_token(pricing["prompt"]), _per_token(pricing["completion"])
    cached = _per_token(pricing["input_cache_read"]) if pricing.get("input_cache_read") else None
    text = f"prompt {pricing['prompt']}, completion {pricing['completion']}"
    if read is None or written is None:
        yield Issue(code="unreadable_price", message=f"{name}: {text} is no price", where=name, text=text)
    elif read < 0 or written < 0:
        left_out["of a router"] += 1
    elif not read or not written:
        left_out["without a price for reading and writing"] += 1
    else:
        yield TokenPrice(
            provider="openrouter",
            model=name,
            repository=str(model.get("hugging_face_id") or "") or None,
            input_price=_million(read),
            cached_input_price=_million(cached) if cached and cached > 0 else None,
            output_price=_million(written),
            currency="USD",
            price_text=text,
        )


def _million(per_token: Decimal) -> Decimal:
    return (per_token * _TOKENS).normalize()


def _per_token(text: object) -> Decimal | None:
    """The amount that a text or a number states, None if it states none."""
    amount = text if isinstance(text, Decimal) else json_number(str(text))
    return amount if amount is not None and amount.is_finite() else None
