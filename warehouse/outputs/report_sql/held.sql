SELECT
    h.source AS price_source, coalesce(l.title, h.listing_id) AS title, l.url AS price_url, h.price, h.currency, h.reference_price, h.reference_currency, h.reason,
    h.held_at, h.times_held, h.snapshot_sha256 AS price_sha256
FROM core.held_price h
LEFT JOIN core.listing l USING (listing_id)
ORDER BY h.source, h.listing_id
