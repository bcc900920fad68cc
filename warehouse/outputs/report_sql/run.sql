-- A backfill of old nights makes no price younger, so the newest time counts, not that of the newest run.
SELECT
    max(as_of) OVER () AS as_of,
    status,
    reason,
    sample_night IS NOT NULL AS is_sample,
    (
        SELECT coalesce(g.gpu, s.value) FROM core.setting s LEFT JOIN core.gpu g ON g.gpu_id = s.value
        WHERE s.setting = 'baseline_gpu_id'
    ) AS baseline
FROM ops.run
WHERE status LIKE 'published%'
ORDER BY rowid DESC
LIMIT 1
