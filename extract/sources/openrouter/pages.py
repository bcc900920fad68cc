"""Parser of OpenRouter's list of models, in JSON.

A price is a text, in US dollars for one token. A model without cost has 0 and is served at somebody's pleasure, with limits
a day, and a router, which picks a model itself, has -1: neither is a price. `hugging_face_id` says which weights are served;
it is empty for models whose weights nobody has.

`overrides` are prices under conditions, of which a later one wins: of a prompt with more tokens, or between two times of
the day. Times cover the whole day, and the prices above them are those of the moment: the dearest of the day counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import time
from decimal import Decimal
from typing import Any

from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers
from gpuledger.extract.readers.token_rates import Rate, as_text
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Parsed, TokenPrice

_TOKENS = 1_000_000
#: The kinds of tokens by the names of their prices, the first of them those of a row's own columns.
_KINDS = {
    "prompt": "input", "completion": "output", "input_cache_read": "cache read", "input_cache_write": "cache write",
    "input_cache_write_1h": "cache write 1 h",
}  # fmt: skip
_CONDITIONS = frozenset(("min_prompt_tokens", "utc_start", "utc_end", "utc_days"))


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
    text = f"prompt {pricing['prompt']}, completion {pricing['completion']}"
    if read is None or written is None:
        yield Issue(code="unreadable_price", message=f"{name}: {text} is no price", where=name, text=text)
    elif read < 0 or written < 0:
        left_out["of a router"] += 1
    elif not read or not written:
        left_out["without a price for reading and writing"] += 1
    else:
        rates, unknown = _rates(pricing)
        dearest = {
            kind: max(rate.price for rate in rates if rate.tokens == kind and not rate.above_tokens)
            for kind in {rate.tokens for rate in rates if not rate.above_tokens}
        }
        for condition in unknown:
            said = f"{name}: a price under a condition that is not known: {condition}"
            yield Issue(code="unknown_condition", message=said, where=name, text=condition, severity="info")
        # Those that say more than the three columns of a price do.
        others = (
            rate
            for rate in rates
            if rate.tokens.startswith("cache write") or rate.above_tokens or rate.utc_from or rate.utc_days
        )
        yield TokenPrice(
            provider="openrouter",
            model=name,
            repository=str(model.get("hugging_face_id") or "") or None,
            input_price=dearest["input"],
            cached_input_price=dearest.get("cache read"),
            output_price=dearest["output"],
            currency="USD",
            price_text=text,
            rates=as_text(others),
        )


def _rates(pricing: Mapping[str, Any]) -> tuple[list[Rate], list[str]]:
    """Every price of tokens, and the overrides whose condition is not known. Prices that hours replace are left out."""
    found, unknown = list(_of(pricing)), list[str]()
    for override in pricing.get("overrides") or ():
        under = _condition(override)
        if under is None:
            unknown.append(json.dumps(override, default=str))
        else:
            found += [rate._replace(**under) for rate in _of(override)]
    hourly = {(rate.tokens, rate.above_tokens) for rate in found if rate.utc_from and not rate.utc_days}
    kept = [rate for rate in found if rate.utc_from or (rate.tokens, rate.above_tokens) not in hourly]
    # Of two under one condition the later one wins.
    return list({rate._replace(price=Decimal(0)): rate for rate in kept}.values()), unknown


def _condition(override: Mapping[str, Any]) -> dict[str, Any] | None:
    """When an override holds, as fields of a Rate; None for an unknown condition. A price is the text of a number."""
    for key, value in override.items():
        amount = Decimal(0) if value is None or value == "" else _per_token(value)
        is_price = key in _KINDS or isinstance(value, str)
        if key not in _CONDITIONS and (not is_price or amount is None or amount < 0):
            return None
    under: dict[str, Any] = {"above_tokens": int(override.get("min_prompt_tokens") or 0)}
    if days := override.get("utc_days"):
        under["utc_days"] = " ".join(days)
    if "utc_start" in override or "utc_end" in override:
        try:
            under |= {"utc_from": _clock(override["utc_start"]), "utc_until": _clock(override["utc_end"])}
        except (ValueError, KeyError):
            return None
    return under


def _of(prices: Mapping[str, Any]) -> Iterator[Rate]:
    for key, kind in _KINDS.items():
        amount = _per_token(prices[key]) if prices.get(key) else None
        if amount is not None and amount > 0:
            yield Rate(kind, (amount * _TOKENS).normalize())


def _clock(number: object) -> str:
    """`16:30` of 1630. Raises ValueError for what is no time of a day."""
    hours, minutes = divmod(int(str(number)), 100)
    return f"{time(hours, minutes):%H:%M}"


def _per_token(text: object) -> Decimal | None:
    """The amount that a text or a number states, None if it states none."""
    amount = text if isinstance(text, Decimal) else json_number(str(text))
    return amount if amount is not None and amount.is_finite() else None
