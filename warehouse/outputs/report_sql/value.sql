SELECT
    v.workload_id,
    v.price_basis,
    v.value_rank,
    v.gpu_id,
    v.gpu,
    v.score,
    v.unit,
    v.price_usd,
    v.score_per_usd * 1000 AS per_1000_usd,
    v.score_ratio,
    v.price_ratio,
    v.on_pareto_frontier,
    r.source AS score_source,
    r.article_url AS score_url,
    r.published_on,
    r.snapshot_sha256 AS score_sha256,
    p.source AS price_source,
    p.url AS price_url,
    p.price_since,
    coalesce(st.last_success_at, p.price_since) AS last_seen_at,
    p.offered_in AS market,
    p.snapshot_sha256 AS price_sha256,
    CASE WHEN v.price_basis = 'msrp' THEN g.msrp_source END AS msrp_source
FROM mart.value v
JOIN mart.ranking r ON r.workload_id = v.workload_id AND r.gpu_id = v.gpu_id
JOIN core.gpu g ON g.gpu_id = v.gpu_id
LEFT JOIN mart.gpu_price p ON p.gpu_id = v.gpu_id AND v.price_basis = 'street'
LEFT JOIN ops.source_state st ON st.source = p.source
ORDER BY v.workload_id, v.price_basis DESC, v.value_rank, v.gpu_id
