WITH newest AS (
    SELECT workload_id, gpu_id, score, unit, source, published_on, article_url, snapshot_sha256
    FROM core.benchmark_score
    WHERE valid_to IS NULL AND match_status = 'matched' AND workload_id IS NOT NULL AND score > 0
    -- Of several publications the newest counts; names in order of the alphabet, so that two runs choose the same.
    QUALIFY row_number() OVER (
        PARTITION BY workload_id, gpu_id ORDER BY published_on DESC NULLS LAST, valid_from DESC, source, gpu_name, score
    ) = 1
),
baseline AS (
    SELECT n.workload_id, n.gpu_id, n.score
    FROM newest n JOIN core.setting s ON s.setting = 'baseline_gpu_id' AND s.value = n.gpu_id
)
SELECT
    n.workload_id,
    rank() OVER (PARTITION BY n.workload_id ORDER BY n.score DESC)::INTEGER AS rank,
    n.gpu_id,
    g.gpu,
    n.score,
    n.unit,
    core.ratio_half_up(n.score, b.score, 12) AS relative_to_baseline,
    b.gpu_id AS baseline_gpu_id,
    n.source,
    n.published_on,
    n.article_url,
    n.snapshot_sha256
FROM newest n
JOIN core.gpu g USING (gpu_id)
LEFT JOIN baseline b USING (workload_id)
ORDER BY n.workload_id, rank, n.gpu_id
