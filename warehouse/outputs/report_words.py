"""How the report writes what the warehouse holds: numbers, ages, links, and the words of its small vocabularies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

_MAKER = re.compile(r"^(?:NVIDIA|AMD|Intel) (?:GeForce |Radeon )?")


def translated_values(_: Callable[[str], str]) -> Mapping[str, Mapping[str, str]]:
    """The values of the warehouse that are shown as words, by vocabulary, in the language of `_`."""
    return {
        "basis": {"street": _("street price"), "msrp": _("launch price")},
        "hint": {"buy": _("buy"), "wait": _("wait"), "neutral": _("neutral"), "unknown": _("unknown")},
        "change": {
            "appeared": _("appeared"), "returned": _("returned"), "price": _("price"),
            "availability": _("availability"), "ended": _("ended"),
        },
        "pricing": {
            "on_demand": _("on demand"), "spot": _("spot"), "reserved_1y": _("reserved, 1 year"),
            "reserved_3y": _("reserved, 3 years"),
        },
        "status": {
            "ok": _("ok"), "partial": _("partial"), "degraded": _("degraded"), "failed": _("failed"),
            "refused": _("refused"),
            "published": _("published"), "published_with_failures": _("published, with a source that failed"),
        },
        "match": {"ambiguous": _("ambiguous"), "unmatched": _("unmatched"), "not_a_gpu": _("not a GPU")},
        "kind": {
            "listing": _("listing"), "score": _("score"), "index_price": _("published price"),
            "cloud_offer": _("cloud offer"),
        },
        "verdict": {
            "agrees": _("agrees"), "erratum": _("known erratum"), "differs": _("differs"),
            "not verifiable": _("not verifiable"), "input missing": _("input missing"),
        },
        # Why an offer does not count (core.offer), and what it is where it does not count as a new card's.
        "left_out": {
            "several GPUs in one product": _("several GPUs in one product"),
            "condition not stated": _("condition not stated"), "source too old": _("source too old"),
            "out of stock": _("out of stock"), "preorder": _("preorder"), "unknown": _("availability unknown"),
            "marketplace seller": _("marketplace seller"), "grey import": _("grey import"),
            "tax not stated": _("tax not stated"), "price held": _("price held"),
            "not confirmed": _("not seen in the newest batch"), "no price": _("no price"),
            "from price": _("starting price"), "list price": _("list price"), "monthly price": _("monthly price"),
            "bundle price": _("price of a bundle"), "no exchange rate": _("no exchange rate"),
            "far above launch price": _("far above launch price"), "far below launch price": _("far below launch price"),
            "beyond what a card costs": _("beyond what a card costs"),
            "used": _("used"), "refurbished": _("refurbished"), "open_box": _("open box"),
        },
        "channel": {
            "official": _("official"), "grey_import": _("grey import"), "marketplace": _("marketplace seller"),
            "refurbished": _("refurbished"),
        },
        "availability": {
            "in_stock": _("in stock"), "out_of_stock": _("out of stock"), "preorder": _("preorder"), "quoted": _("quoted"),
            "unknown": _("availability unknown"),
        },
    }  # fmt: skip


def money(amount: Decimal | float, decimals: int = 2) -> str:
    """`1299` as `1,299.00`; without the decimals where `decimals` is 0."""
    return f"{amount:,.{decimals}f}"


def amount(price: Decimal) -> str:
    """A price in its own currency as printed: `2,398,000` won, `1,699.99` dollars."""
    return f"{price:,.2f}".removesuffix(".00")


def number(value: Decimal | float) -> str:
    """Without an exponent and without zeros that say nothing."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: Decimal | float) -> str:
    """`-0.0693` as `−6.9 %`, with its sign."""
    return f"{100 * share:+.1f} %".replace("-", "−")


def day(time: date | datetime) -> str:
    """ISO 8601, the day alone."""
    return time.strftime("%Y-%m-%d")


def hours(then: datetime, now: datetime) -> float:
    """Hours from `then` to `now`."""
    return (now - then).total_seconds() / 3600


def web(url: Any) -> str | None:
    """The address where a browser may be sent to it; None for `javascript:`, `file:` and what is no address."""
    try:
        parts = urlsplit(str(url or ""))
    except ValueError:
        return None
    return str(url) if parts.scheme in ("http", "https") and parts.hostname else None


def short(gpu: str) -> str:
    """The name without its maker: `RTX 4090`."""
    return _MAKER.sub("", gpu)


FILTERS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function for function in (money, amount, number, percent, day, hours, web, short)
}
