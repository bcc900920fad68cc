-- A question that cannot be answered is refused with the reason: no rows would read as "nothing is large enough".
WITH asked AS (
    SELECT CASE
        WHEN NOT EXISTS (SELECT 1 FROM core.model m WHERE m.model_id = model)
            THEN error('no model is called ' || model || '; core.model lists them')
        WHEN NOT EXISTS (SELECT 1 FROM core.model_weights w WHERE w.model_id = model AND w.precision = precision)
            THEN error('the precision ' || precision || ' is not known for ' || model || '; core.model_weights lists them')
        WHEN context_tokens NOT BETWEEN 1 AND (SELECT max_context_tokens FROM core.model m WHERE m.model_id = model)
            THEN error('a context of ' || context_tokens || ' tokens is beyond what ' || model || ' was trained for, '
                || (SELECT max_context_tokens FROM core.model m WHERE m.model_id = model))
        ELSE true
    END AS is_possible
)
SELECT
    row_number() OVER (ORDER BY p.price_usd * ceil(f.gpu_count / g.gpus_on_board), f.gpu_count, f.gpu_id)::INTEGER AS rank,
    f.gpu_count,
    f.gpu_id,
    f.gpu,
    p.price_usd,
    (p.price_usd * ceil(f.gpu_count / g.gpus_on_board))::DECIMAL(18, 2) AS total_price_usd,
    f.needed_gb,
    f.available_gb,
    f.decode_bound_tokens_per_s,
    f.measured_tokens_per_s,
    f.expected_tokens_per_s,
    p.source,
    (p.price_since AT TIME ZONE 'UTC')::DATE AS price_since,
    p.url,
    p.snapshot_sha256
FROM fit_at([precision], [context_tokens], 1) f
JOIN core.gpu g ON g.gpu_id = f.gpu_id
JOIN mart.gpu_price p ON p.gpu_id = f.gpu_id
WHERE f.model_id = model AND f.fits AND p.price_usd IS NOT NULL AND (SELECT is_possible FROM asked)
ORDER BY rank
