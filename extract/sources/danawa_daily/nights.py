"""Danawa's daily tables as nights of offers, as if the parser of a shop had run at each crawl."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from gpuledger.extract import source, words
from gpuledger.extract.market import with_market
from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily.pages import Observation, Status, condition, observations
from gpuledger.items import Availability, Offer

_URL = "https://prod.danawa.com/info/?pcode={}"


def nights(pages: Iterable[Page]) -> list[tuple[datetime, list[tuple[Offer, str]]]]:
    """Return the crawls in order of time (UTC), each with its offers and with the hash of the file of each offer.

    Equal cells of one product give the same Offer object: a product keeps its price for days, and a tenth of a million
    objects can say as much as a million. Raises the errors of `observations`.
    """
    crawls: dict[datetime, list[tuple[Offer, str]]] = defaultdict(list)
    known: dict[tuple[str, str, str], Offer] = {}
    products: dict[tuple[str, str], Offer] = {}
    for page in pages:
        for observation in observations(page):
            # A crawl of which nothing can be read is a night too: without it, nothing would tell of it.
            crawl = crawls[observation.observed_at]
            if observation.status in ("unreadable", "repeated"):
                continue
            key = (observation.product_code, observation.name, observation.text)
            offer = known.get(key)
            if offer is None:
                offer = known[key] = _offer(observation, products.get(key[:2]))
                products.setdefault(key[:2], offer)
            crawl.append((offer, page.sha256))
    return sorted(crawls.items())


def _offer(observation: Observation, before: Offer | None) -> Offer:
    """Return the cell as an offer.

    Market and channel come from an earlier offer of the product (`before`), if there is one.
    """
    has_price = observation.price_krw is not None
    offer = Offer(
        title=observation.name,
        url=_URL.format(observation.product_code),
        key=observation.product_code,
        price=Decimal(observation.price_krw) if observation.price_krw is not None else None,
        currency="KRW" if has_price else None,
        price_kind="now" if has_price else None,
        price_text=observation.text,
        availability=_availability(observation.status, observation.reason),
        condition=condition(observation.name),
        seller=observation.shop,
        shop_count=observation.shop_count,
        market=before.market if before else None,
        channel=before.channel if before else None,
        tax_included=words.tax_included(observation.text),
    )
    if before:
        return offer
    marked = with_market(offer, "KR")
    assert isinstance(marked, Offer)
    return marked


def _availability(status: Status, reason: str | None) -> Availability:
    if status != "no_price":
        return "in_stock" if source.priced_is_in_stock("danawa_daily") else "unknown"
    return "out_of_stock" if reason in ("sold_out", "discontinued") else "unknown"
