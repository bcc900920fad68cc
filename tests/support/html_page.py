"""A page of a shop that a test writes, read as it comes from the web."""

from __future__ import annotations

from datetime import UTC, datetime

from gpuledger.extract import product
from gpuledger.extract.items import Issue, Offer
from gpuledger.extract.source import Page


def offer_on(url: str, html: str, fetched_at: datetime = datetime(2024, 1, 5, tzinfo=UTC)) -> tuple[Offer, list[Issue]]:
    """The one offer of a page that was fetched from `url`, and its issues."""
    page = Page(
        url=url, final_url=url, content=html.encode(), sha256="", fetched_at=fetched_at,
        headers={"content-type": "text/html; charset=utf-8"},
    )  # fmt: skip
    items = list(product.parse(page))
    (offer,) = [item for item in items if isinstance(item, Offer)]
    return offer, [item for item in items if isinstance(item, Issue)]
