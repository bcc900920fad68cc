-- Everything appears on the first night of a source, but that is not a change in the market.
WITH first_night AS (
    SELECT source, min(seen_at) AS first_at FROM core.source_night GROUP BY source
)
SELECT
    c.changed_at, c.change, c.source AS shop,
    if(h.title <> l.title, h.gpu_id, l.gpu_id) AS gpu_id, coalesce(h.title, l.title) AS title, l.url,
    c.old_price, c.new_price, c.currency, c.change_ratio, c.old_availability, c.new_availability, c.snapshot_sha256 AS evidence, count(*) OVER () AS total
FROM core.price_change c
LEFT JOIN first_night f ON f.source = c.source
LEFT JOIN core.listing l USING (listing_id)
ASOF LEFT JOIN core.listing_history h ON h.listing_no = l.listing_no AND h.valid_from <= c.changed_at
WHERE c.changed_at > $as_of::TIMESTAMPTZ - INTERVAL 7 DAY AND (c.change <> 'appeared' OR c.changed_at > f.first_at)
ORDER BY c.changed_at DESC, c.change = 'appeared', abs(c.change_ratio) DESC NULLS LAST, c.listing_id
LIMIT $most
