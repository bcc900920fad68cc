"""Danawa's daily tables as nights of offers: what a shop reader would have yielded had it run at each crawl."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import cache

from gpuledger.extract import wording
from gpuledger.extract.items import Availability, Condition, Offer
from gpuledger.extract.market import with_market
from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily.cells import Status
from gpuledger.extract.sources.danawa_daily.pages import Observation, observations

_URL = "https://prod.danawa.com/info/?pcode={}"


def nights(pages: Iterable[Page]) -> list[tuple[datetime, list[tuple[Offer, str]]]]:
    """Crawls in order of time (UTC), each with its offers and the hash of the file that they stand in.

    Equal cells of one product give the same Offer object: a product's price stands for days, and a million objects would
    say what a tenth of them can. Raises what `observations` raises.
    """
    crawls: dict[datetime, list[tuple[Offer, str]]] = defaultdict(list)
    known: dict[tuple[str, str, str], Offer] = {}
    products: dict[tuple[str, str], Offer] = {}
    for page in pages:
        for seen in observations(page):
            if seen.status in ("unreadable", "repeated"):
                continue
            key = (seen.product_code, seen.name, seen.text)
            offer = known.get(key)
            if offer is None:
                offer = known[key] = _offer(seen, products.get(key[:2]))
                products.setdefault(key[:2], offer)
            crawls[seen.observed_at].append((offer, page.sha256))
    return sorted(crawls.items())


def _offer(seen: Observation, before: Offer | None) -> Offer:
    """The cell as an offer; market and channel are those of another offer of the product (`before`), where there is one."""
    has_price = seen.price_krw is not None
    offer = Offer(
        title=seen.name,
        url=_URL.format(seen.product_code),
        key=seen.product_code,
        price=Decimal(seen.price_krw) if seen.price_krw is not None else None,
        currency="KRW" if has_price else None,
        price_kind="now" if has_price else None,
        price_text=seen.text,
        availability=_availability(seen.status, seen.reason),
        condition=_condition(seen.name),
        seller=seen.shop,
        shop_count=seen.shop_count,
        market=before.market if before else None,
        channel=before.channel if before else None,
        tax_included=wording.tax_included(seen.text),
    )
    if before:
        return offer
    marked = with_market(offer, "KR")
    assert isinstance(marked, Offer)
    return marked


@cache
def _condition(name: str) -> Condition:
    """A product keeps its name for months: it is looked through once."""
    return wording.condition(name) or "new"


def _availability(status: Status, reason: str | None) -> Availability:
    if status != "no_price":
        return "in_stock"
    return "out_of_stock" if reason in ("sold_out", "discontinued") else "unknown"
