SELECT
    h.source AS shop, l.gpu_id, h.title, h.url, h.price, h.currency, h.reference_price, h.reference_currency, h.reason, h.held_at,
    h.times_held, h.snapshot_sha256 AS evidence
FROM core.held h
LEFT JOIN (SELECT listing_id, any_value(gpu_id) AS gpu_id FROM core.offer GROUP BY listing_id) l USING (listing_id)
ORDER BY h.source, h.listing_id
