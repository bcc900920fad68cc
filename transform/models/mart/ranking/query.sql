-- Everything that is known: the same question as of a day that never comes.
SELECT workload_id, rank, gpu_id, gpu, score, unit, relative_to_baseline, baseline_gpu_id, source, published_on, article_url,
    snapshot_sha256
FROM ranking_as_of(DATE '9999-12-30')
ORDER BY workload_id, rank, gpu_id
