SELECT
    source AS price_source, title, url AS price_url, price, currency, reference_price, reference_currency, reason, bound,
    held_at, times_held, snapshot_sha256 AS price_sha256
FROM core.held
ORDER BY source, listing_id
