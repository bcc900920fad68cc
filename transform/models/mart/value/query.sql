WITH price AS (
    -- A card with a figure has been announced, with its price: figures of a launch come a day before the shops'.
    SELECT gpu_id, 'msrp' AS price_basis, msrp_usd AS price_usd, NULL AS market FROM core.gpu WHERE msrp_usd > 0
    UNION ALL
    SELECT gpu_id, 'street', price_usd, market FROM mart.gpu_price WHERE price_usd > 0
),
scored AS (
    -- Of a figure of several cards the price is theirs together. Where less is better there is no score for the money.
    SELECT r.workload_id, p.price_basis, r.gpu_id, r.gpu, r.score, r.unit, p.price_usd * coalesce(r.gpu_count, 1) AS price_usd,
        p.market, r.baseline_gpu_id, core.ratio_half_up(r.score, p.price_usd * coalesce(r.gpu_count, 1), 12) AS score_per_usd
    FROM mart.ranking r
    JOIN price p USING (gpu_id)
    LEFT JOIN core.workload w USING (workload_id)
    WHERE w.direction IS DISTINCT FROM 'less'
),
baseline AS (
    SELECT workload_id, price_basis, score, price_usd FROM scored WHERE gpu_id = baseline_gpu_id
),
dominated AS (
    -- Behind the front: another is at least as fast for no more money, and better in one of the two.
    SELECT s.workload_id, s.price_basis, s.gpu_id
    FROM scored s
    SEMI JOIN scored o ON o.workload_id = s.workload_id AND o.price_basis = s.price_basis
        AND o.score >= s.score AND o.price_usd <= s.price_usd AND (o.score > s.score OR o.price_usd < s.price_usd)
)
SELECT
    s.workload_id,
    s.price_basis,
    rank() OVER (PARTITION BY s.workload_id, s.price_basis ORDER BY s.score_per_usd DESC)::INTEGER AS value_rank,
    s.gpu_id,
    s.gpu,
    s.score,
    s.unit,
    s.price_usd,
    s.market,
    s.score_per_usd,
    core.ratio_half_up(s.score, b.score, 12) AS score_ratio,
    core.ratio_half_up(s.price_usd, b.price_usd, 12) AS price_ratio,
    d.gpu_id IS NULL AS on_pareto_frontier
FROM scored s
LEFT JOIN baseline b ON b.workload_id = s.workload_id AND b.price_basis = s.price_basis
LEFT JOIN dominated d ON d.workload_id = s.workload_id AND d.price_basis = s.price_basis AND d.gpu_id = s.gpu_id
ORDER BY s.workload_id, s.price_basis, value_rank, s.gpu_id
