SELECT
    p.gpu, p.price_usd, p.median_usd, p.offers, p.msrp_usd, p.premium_over_msrp, p.used_price_usd, p.market, p.source,
    p.seller, p.title, p.url, p.price_since,
    core.last_seen_at(s.confirmed_until, st.last_success_at, p.price_since) AS last_seen_at,
    p.excluded, p.snapshot_sha256, p.listing_id, p.gpu_id
FROM mart.gpu_price p
LEFT JOIN core.price_open s ON s.listing_id = p.listing_id
LEFT JOIN ops.source_state st ON st.source = p.source
