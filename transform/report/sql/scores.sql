SELECT
    workload_id, gpu_id, rank, score, relative_to_baseline, gpu_count, claim, source, article_url AS url, published_on,
    snapshot_sha256 AS evidence
FROM mart.ranking
ORDER BY workload_id, rank, gpu_id
