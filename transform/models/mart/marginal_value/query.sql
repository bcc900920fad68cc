WITH front AS (
    -- If two cards of the front have the same price and score, they share one place on it.
    SELECT workload_id, price_basis, gpu_id,
        dense_rank() OVER (PARTITION BY workload_id, price_basis ORDER BY price_usd) AS place
    FROM mart.value WHERE on_pareto_frontier
)
SELECT
    a.workload_id,
    a.price_basis,
    a.gpu_id AS from_gpu_id,
    a.gpu AS from_gpu,
    b.gpu_id AS to_gpu_id,
    b.gpu AS to_gpu,
    core.ratio_half_up(b.score, a.score, 6) AS step_score_ratio,
    core.ratio_half_up(b.price_usd, a.price_usd, 6) AS step_price_ratio,
    ((b.score - a.score)::DOUBLE / (b.price_usd - a.price_usd)::DOUBLE) AS marginal_score_per_usd,
    core.ratio_half_up(b.score, a.score, 6) > core.ratio_half_up(b.price_usd, a.price_usd, 6) AS rises_more_than_price,
    a.on_pareto_frontier AS from_on_frontier,
    b.on_pareto_frontier AS to_on_frontier,
    coalesce(fb.place = fa.place + 1, false) AS is_frontier_step
FROM mart.value a
JOIN mart.value b ON b.workload_id = a.workload_id AND b.price_basis = a.price_basis AND b.price_usd > a.price_usd
LEFT JOIN front fa ON fa.workload_id = a.workload_id AND fa.price_basis = a.price_basis AND fa.gpu_id = a.gpu_id
LEFT JOIN front fb ON fb.workload_id = b.workload_id AND fb.price_basis = b.price_basis AND fb.gpu_id = b.gpu_id
ORDER BY a.workload_id, a.price_basis, a.price_usd, a.gpu_id, b.price_usd, b.gpu_id
