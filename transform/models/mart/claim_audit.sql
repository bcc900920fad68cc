-- Recomputed from scores and launch prices alone; the printed figure is only compared with.
WITH score AS (
    SELECT workload_id, gpu_id, score FROM mart.ranking
),
baseline AS (
    SELECT workload_id, score FROM mart.ranking WHERE gpu_id = baseline_gpu_id
),
recomputed AS (
    SELECT
        c.*,
        CASE c.measure
            WHEN 'score_per_usd' THEN core.ratio_half_up(score.score, g.msrp_usd, c.decimals)
            WHEN 'score_ratio' THEN core.ratio_half_up(score.score, baseline.score, c.decimals)
        END AS recomputed,
        CASE c.measure
            WHEN 'score_per_usd' THEN score.score || ' ' || w.unit || ' / ' || g.msrp_usd || ' USD'
            WHEN 'score_ratio' THEN score.score || ' / ' || baseline.score || ' ' || w.unit
        END AS inputs
    FROM core.published_claim c
    LEFT JOIN score ON score.workload_id = c.workload_id AND score.gpu_id = c.gpu_id
    LEFT JOIN baseline ON baseline.workload_id = c.workload_id
    LEFT JOIN core.gpu g ON g.gpu_id = c.gpu_id
    LEFT JOIN core.workload w ON w.workload_id = c.workload_id
)
SELECT document, claim_id, statement, published, recomputed, decimals, coalesce(published = recomputed, false) AS agrees, inputs
FROM recomputed
ORDER BY document, claim_id
