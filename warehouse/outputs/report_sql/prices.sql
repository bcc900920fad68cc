SELECT
    p.gpu_id,
    p.gpu,
    p.price_usd,
    p.price,
    p.currency,
    p.fx_day,
    p.source AS price_source,
    p.title,
    p.url AS price_url,
    p.price_since,
    coalesce(st.last_success_at, p.price_since) AS last_seen_at,
    p.market,
    p.offered_in,
    p.channel,
    p.is_net,
    p.snapshot_sha256 AS price_sha256,
    p.median_usd,
    p.offers,
    p.msrp_usd,
    g.msrp_source,
    p.premium_over_msrp,
    u.price_usd AS used_usd,
    u.url AS used_url,
    u.source AS used_source,
    u.condition AS used_condition,
    u.snapshot_sha256 AS used_sha256,
    t.hint,
    t.days,
    t.change_30d,
    t.percentile_1y,
    t.all_time_low_usd,
    t.all_time_low_on
FROM mart.gpu_price p
JOIN core.gpu g ON g.gpu_id = p.gpu_id
LEFT JOIN core.best_offer u ON u.gpu_id = p.gpu_id AND u.condition <> 'new'
LEFT JOIN ops.source_state st ON st.source = p.source
LEFT JOIN mart.price_trend t ON t.gpu_id = p.gpu_id
ORDER BY p.gpu
