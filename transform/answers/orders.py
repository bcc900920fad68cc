"""Answers what an order says of an offer beside `buy`: the part number, shipping, and which prices of the card are held."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import duckdb

from gpuledger.transform.buying.options import Option


class Listing(NamedTuple):
    """What an order says of an offer, shipping for one piece in US dollars, and of a quote how many it offers until when."""

    mpn: str | None = None
    shipping_usd: float | None = None
    is_quote: bool = False
    tax_included: bool | None = None
    quantity: int | None = None
    valid_until: date | None = None
    delivery: str | None = None


def listing_of(con: duckdb.DuckDBPyConnection, option: Option) -> Listing:
    """The offer of an option. Nothing is known of what no shop sells."""
    row = con.execute(
        """SELECT coalesce(l.mpn, l.sku), l.shipping::DOUBLE * fx.usd_rate, l.seller_kind = 'quote', l.tax_included,
               l.quantity, l.valid_until, l.delivery
           FROM core.listing l LEFT JOIN core.price_open p USING (listing_id)
           LEFT JOIN core.fx_usd fx ON fx.currency = p.currency WHERE l.listing_id = ?""",
        [option.evidence and option.evidence.listing_id],
    ).fetchone()
    return Listing() if row is None else Listing(*row)


def held(con: duckdb.DuckDBPyConnection, gpu_id: str | None) -> str:
    """The prices of a card that are held, each with the reason, as text; empty if none is."""
    rows = con.execute(
        """SELECT format('{} {} ({})', h.price::DECIMAL(18, 2)::VARCHAR, h.currency, h.reason)
           FROM core.held h JOIN core.listing l ON l.listing_id = h.listing_id
           WHERE coalesce(l.gpu_id, l.contained_gpu_id) = ? ORDER BY h.price""",
        [gpu_id],
    ).fetchall()
    return "; ".join(text for (text,) in rows)


def vendors(con: duckdb.DuckDBPyConnection, market: str) -> list[str]:
    """Whose quotes stand in a market."""
    rows = con.execute(
        """SELECT DISTINCT seller FROM core.market_offer
           WHERE seller_kind = 'quote' AND in_market = ? AND exclusion IS NULL AND seller IS NOT NULL ORDER BY 1""",
        [market],
    ).fetchall()
    return [seller for (seller,) in rows]
