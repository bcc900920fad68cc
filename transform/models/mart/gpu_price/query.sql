WITH spread AS (
    SELECT gpu_id, count(*) AS offers, median(price_usd)::DECIMAL(18, 2) AS median_usd
    FROM core.offer WHERE exclusion IS NULL AND condition = 'new' GROUP BY gpu_id
),
left_out AS (
    SELECT gpu_id, string_agg(n || ' ' || why, ', ' ORDER BY n DESC, why) AS excluded
    FROM (
        SELECT gpu_id, coalesce(exclusion, condition) AS why, count(*) AS n
        FROM core.offer WHERE exclusion IS NOT NULL OR condition <> 'new' GROUP BY ALL
    ) GROUP BY gpu_id
)
SELECT
    g.gpu_id,
    g.gpu,
    best.price_usd,
    spread.median_usd,
    coalesce(spread.offers, 0) AS offers,
    g.msrp_usd,
    (best.price_usd::DOUBLE / g.msrp_usd::DOUBLE - 1)::DECIMAL(18, 4) AS premium_over_msrp,
    used.price_usd AS used_price_usd,
    best.price,
    best.currency,
    best.fx_day,
    best.source,
    best.seller,
    best.title,
    best.url,
    best.listing_id,
    best.valid_from AS price_since,
    best.snapshot_sha256,
    left_out.excluded
FROM core.gpu g
LEFT JOIN core.best_offer best ON best.gpu_id = g.gpu_id AND best.condition = 'new'
LEFT JOIN spread ON spread.gpu_id = g.gpu_id
LEFT JOIN core.best_offer used ON used.gpu_id = g.gpu_id AND used.condition <> 'new'
LEFT JOIN left_out ON left_out.gpu_id = g.gpu_id
WHERE best.gpu_id IS NOT NULL OR used.gpu_id IS NOT NULL OR left_out.gpu_id IS NOT NULL
ORDER BY g.gpu_id
