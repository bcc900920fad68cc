SELECT
    p.market, p.gpu_id, p.price_usd, p.price, p.currency, p.offered_in, p.channel, p.source AS shop, p.title, p.url,
    p.price_since, core.last_seen_at(s.confirmed_until, st.last_success_at, p.price_since) AS confirmed_at, p.median_usd, p.offers,
    p.premium_over_msrp, p.excluded, p.snapshot_sha256 AS evidence,
    u.price_usd AS used_usd, u.condition AS used_condition, u.source AS used_shop, u.url AS used_url,
    u.snapshot_sha256 AS used_evidence
FROM mart.market_price p
LEFT JOIN core.price_open s ON s.listing_id = p.listing_id
LEFT JOIN ops.source_state st ON st.source = p.source
LEFT JOIN core.market_best_offer u ON u.in_market = p.market AND u.gpu_id = p.gpu_id AND u.condition <> 'new'
ORDER BY p.market, p.gpu_id
