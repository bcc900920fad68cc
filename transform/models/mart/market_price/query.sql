WITH offered AS MATERIALIZED (
    SELECT in_market, gpu_id, condition, price_usd, exclusion FROM core.market_offer
),
spread AS (
    SELECT in_market, gpu_id, count(*) AS offers, median(price_usd)::DECIMAL(18, 2) AS median_usd
    FROM offered WHERE exclusion IS NULL AND condition = 'new' GROUP BY ALL
),
left_out AS (
    SELECT in_market, gpu_id, string_agg(n || ' ' || why, ', ' ORDER BY n DESC, why) AS excluded
    FROM (
        SELECT in_market, gpu_id, coalesce(exclusion, condition) AS why, count(*) AS n
        FROM offered WHERE exclusion IS NOT NULL OR condition <> 'new' GROUP BY ALL
    ) GROUP BY ALL
),
best AS MATERIALIZED (
    FROM core.market_best_offer
),
listed AS (
    SELECT DISTINCT in_market, gpu_id FROM offered
)
SELECT
    l.in_market AS market,
    g.gpu_id,
    g.gpu,
    best.price_usd,
    spread.median_usd,
    coalesce(spread.offers, 0) AS offers,
    g.msrp_usd,
    -- Launch prices are without tax.
    (coalesce(best.net_usd, best.price_usd)::DOUBLE / g.msrp_usd::DOUBLE - 1)::DECIMAL(18, 4) AS premium_over_msrp,
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
    left_out.excluded,
    best.market AS offered_in,
    best.channel,
    best.tax_included,
    best.tax_rate,
    best.net_usd,
    best.shipping,
    l.in_market IN ('eu', 'all') AS is_net
FROM listed l
JOIN core.gpu g ON g.gpu_id = l.gpu_id
LEFT JOIN best
    ON best.in_market = l.in_market AND best.gpu_id = l.gpu_id AND best.condition = 'new'
LEFT JOIN spread ON spread.in_market = l.in_market AND spread.gpu_id = l.gpu_id
LEFT JOIN best AS used
    ON used.in_market = l.in_market AND used.gpu_id = l.gpu_id AND used.condition <> 'new'
LEFT JOIN left_out ON left_out.in_market = l.in_market AND left_out.gpu_id = l.gpu_id
ORDER BY l.in_market, g.gpu_id
