"""What a watch looks at: the price of a card and its history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gpuledger.transform.answers import markets
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

Row = Mapping[str, Any]


def street_price(data: DataDir, gpu_id: str) -> Row | None:
    """The street price of a card, with the page of the offer. None if no offer counts."""
    columns, rows = query(
        data,
        """SELECT p.price_usd, p.price, p.currency, p.source, p.title, p.url,
               CASE WHEN o.seller_kind IN ('quote', 'marketplace') THEN o.seller END AS vendor,
               p.price_since, p.snapshot_sha256, core.price_mark(p.source) AS price_mark,
               core.last_seen_at(o.confirmed_until, s.last_success_at, p.price_since) AS last_seen_at
           FROM mart.gpu_price p JOIN ops.source_state s USING (source) JOIN core.price_open o USING (listing_id)
           WHERE p.gpu_id = $gpu_id AND p.price_usd IS NOT NULL""",
        {"gpu_id": gpu_id},
    )
    return dict(zip(columns, rows[0], strict=True)) if rows else None


def lowest_before(data: DataDir, gpu_id: str, now: datetime, days: int, currency: str) -> Row:
    """The lowest street price in the last `days` days before that of `now`, each at the rate of its day in a currency; its
    day, and the number of days with a price.
    """
    columns, (lowest,) = query(
        data,
        f"""SELECT min(low) AS low, arg_min(day, (low, day)) AS low_on, count(*) AS days, min(day) AS since
           FROM {markets.DAILY_LOWS}
           WHERE gpu_id = $gpu_id AND suspect IS NOT TRUE AND low IS NOT NULL AND day < ($now AT TIME ZONE 'UTC')::DATE
               AND day >= ($now AT TIME ZONE 'UTC')::DATE - $days::INTEGER""",
        {"gpu_id": gpu_id, "now": now, "days": days, "currency": currency},
    )
    return dict(zip(columns, lowest, strict=True))
