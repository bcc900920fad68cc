WITH used AS (
    SELECT gpu_id, price_usd, url, source, condition, snapshot_sha256
    FROM core.offer
    WHERE exclusion IS NULL AND condition IN ('used', 'refurbished', 'open_box')
    QUALIFY row_number() OVER (PARTITION BY gpu_id ORDER BY price_usd, valid_from, listing_id) = 1
)
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
JOIN core.gpu g USING (gpu_id)
LEFT JOIN used u USING (gpu_id)
LEFT JOIN mart.price_trend t USING (gpu_id)
ORDER BY p.gpu
