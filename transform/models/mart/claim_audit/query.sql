-- The survey's figures are recomputed only from scores, launch prices and model sizes, and then compared with the printed figures.
-- Figures of other documents follow from shapes and their own inputs. They were recomputed exactly before they were loaded.
WITH score AS (
    SELECT workload_id, gpu_id, score FROM mart.ranking
),
baseline AS (
    SELECT r.workload_id, r.score, g.msrp_usd
    FROM mart.ranking r JOIN core.gpu g ON g.gpu_id = r.gpu_id WHERE r.gpu_id = r.baseline_gpu_id
),
-- A rank is among the cards in the survey's own table. A card that was measured later is no counterexample.
ordered AS (
    SELECT
        s.workload_id,
        s.gpu_id,
        rank() OVER (PARTITION BY s.workload_id ORDER BY s.score DESC) AS score_rank,
        rank() OVER (PARTITION BY s.workload_id ORDER BY core.ratio_half_up(s.score, g.msrp_usd, 12) DESC) AS value_rank
    FROM score s
    JOIN core.gpu g ON g.gpu_id = s.gpu_id
    WHERE EXISTS (
        SELECT 1 FROM core.published_claim c
        WHERE c.document = 'survey' AND c.measure = 'score_per_usd' AND c.workload_id = s.workload_id AND c.gpu_id = s.gpu_id
    )
),
-- As in the claim, every weight is read once for each token: the size of all weights divided by the bandwidth.
bound AS (
    SELECT w.workload_id, g.gpu_id, g.memory_bandwidth_gb_s * 1e9 / m.weights_bytes AS tokens_per_s,
        g.memory_bandwidth_gb_s || ' GB/s / ' || round(m.weights_bytes / 1e9, 3) || ' GB' AS words
    FROM core.workload w
    JOIN core.model_weights m ON m.model_id = w.model_id AND m.precision = w.precision
    CROSS JOIN core.gpu g
),
recomputed AS (
    SELECT
        c.*,
        coalesce(f.recomputed::DECIMAL(38, 12), CASE c.measure
            WHEN 'score_per_usd' THEN core.ratio_half_up(score.score, g.msrp_usd, c.decimals)
            WHEN 'score_ratio' THEN core.ratio_half_up(score.score, baseline.score, c.decimals)
            WHEN 'score_rank' THEN o.score_rank
            WHEN 'value_rank' THEN o.value_rank
            WHEN 'score_ratio_over_price_ratio'
                THEN round((score.score::DOUBLE / baseline.score) / (g.msrp_usd::DOUBLE / baseline.msrp_usd), 4)
            WHEN 'bandwidth_bound' THEN round(b.tokens_per_s, 1)
            WHEN 'bandwidth_utilisation_percent' THEN round(100 * score.score::DOUBLE / b.tokens_per_s, c.decimals)
        END::DECIMAL(38, 12)) AS recomputed,
        f.lowest_agreeing,
        f.highest_agreeing,
        CASE c.measure
            WHEN 'score_per_usd' THEN score.score || ' ' || w.unit || ' / ' || g.msrp_usd || ' USD'
            WHEN 'score_ratio' THEN score.score || ' / ' || baseline.score || ' ' || w.unit
            WHEN 'score_rank' THEN score.score || ' ' || w.unit
            WHEN 'value_rank' THEN score.score || ' ' || w.unit || ' / ' || g.msrp_usd || ' USD'
            WHEN 'score_ratio_over_price_ratio' THEN
                '(' || score.score || ' / ' || baseline.score || ' ' || w.unit || ') / (' || g.msrp_usd || ' / '
                || baseline.msrp_usd || ' USD)'
            WHEN 'bandwidth_bound' THEN b.words
            WHEN 'bandwidth_utilisation_percent' THEN score.score || ' ' || w.unit || ' / (' || b.words || ')'
        END AS inputs
    FROM core.published_claim c
    LEFT JOIN core.recomputed_figure f ON f.document = c.document AND f.claim_id = c.claim_id
    LEFT JOIN score ON score.workload_id = c.workload_id AND score.gpu_id = c.gpu_id
    LEFT JOIN baseline ON baseline.workload_id = c.workload_id
    LEFT JOIN ordered o ON o.workload_id = c.workload_id AND o.gpu_id = c.gpu_id
    LEFT JOIN bound b ON b.workload_id = c.workload_id AND b.gpu_id = c.gpu_id
    LEFT JOIN core.gpu g ON g.gpu_id = c.gpu_id
    LEFT JOIN core.workload w ON w.workload_id = c.workload_id
),
compared AS (
    SELECT
        *,
        coalesce(CASE
            WHEN lowest_agreeing IS NOT NULL THEN published BETWEEN lowest_agreeing AND highest_agreeing
            WHEN comparison = 'equals' THEN published = recomputed
            WHEN comparison = 'near' THEN abs(recomputed - published) <= published / 20
            WHEN comparison = 'more_than' THEN recomputed > published
            WHEN comparison = 'less_than' THEN recomputed < published
        END, false) AS agrees
    FROM recomputed
)
SELECT
    document,
    claim_id,
    statement,
    published,
    recomputed,
    unit,
    decimals,
    comparison,
    agrees,
    CASE
        WHEN agrees THEN 'agrees'
        WHEN recomputed IS NULL AND measure = 'figure' THEN 'not verifiable'
        WHEN recomputed IS NULL THEN 'input missing'
        WHEN erratum IS NOT NULL THEN 'erratum'
        ELSE 'differs'
    END AS verdict,
    CASE WHEN NOT agrees THEN erratum END AS erratum,
    inputs
FROM compared
ORDER BY document, claim_id
