SELECT
    v.workload_id, v.value_rank, v.gpu, v.score, v.unit, v.price_usd, v.score_per_usd, v.score_ratio, v.price_ratio,
    v.on_pareto_frontier, v.market, p.source, p.seller, p.url, p.price_since, p.last_seen_at, p.snapshot_sha256, v.gpu_id
FROM mart.value v
JOIN main.price p ON p.gpu_id = v.gpu_id
WHERE v.price_basis = 'street'
