"""What changed at the shops: prices, availability, and listings that came or went."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from gpuledger.transform.answers.columns import columns
from gpuledger.warehouse.outputs.answer import Answer, Column
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: What people see of it.
SHOWN = columns(
    "changed_at", "gpu", "change", "old_price", "new_price", "currency", "change_ratio", "old_availability",
    "new_availability", "shop", "title", "url", Column("evidence", "evidence"),
)  # fmt: skip


def changes(data: DataDir, since: date | None, gpu_ids: Sequence[str] | None, most: int | None) -> Answer:
    """Changes of the cards `gpu_ids` since the start of the day `since` (UTC), the newest first.

    A listing has the title and the card that it had then: under another title it sold another product.
    """
    cards = None if gpu_ids is None else list(gpu_ids)
    found = query(
        data,
        """SELECT c.changed_at, g.gpu, c.change, c.old_price, c.new_price, c.currency, c.change_ratio, c.old_availability,
               c.new_availability, c.source AS shop, coalesce(h.title, l.title) AS title, l.url,
               c.snapshot_sha256 AS evidence
           FROM core.price_change c JOIN core.listing l USING (listing_id)
           ASOF LEFT JOIN core.listing_history h ON h.listing_no = l.listing_no AND h.valid_from <= c.changed_at
           LEFT JOIN core.gpu g ON g.gpu_id = if(h.title <> l.title, h.gpu_id, l.gpu_id)
           WHERE ($since IS NULL OR c.changed_at >= $since::DATE)
               AND ($cards IS NULL OR list_contains($cards, g.gpu_id))
           ORDER BY c.changed_at DESC, g.gpu NULLS LAST, c.listing_id LIMIT $most""",
        {"since": since, "cards": cards, "most": 1_000_000 if most is None else most},
    )
    return Answer.of_query(*found, SHOWN)
