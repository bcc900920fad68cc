SELECT
    g.gpu, o.gpu_count, o.price_usd, o.price, o.currency, o.market, o.source, o.seller, o.condition, o.availability,
    o.channel, o.tax_included, o.net_usd, o.exclusion, o.title, o.url, o.valid_from,
    core.last_seen_at(o.confirmed_until, st.last_success_at, o.valid_from) AS last_seen_at,
    o.snapshot_sha256, o.listing_id, o.gpu_id
FROM core.offer o
LEFT JOIN core.gpu g ON g.gpu_id = o.gpu_id
LEFT JOIN ops.source_state st ON st.source = o.source
