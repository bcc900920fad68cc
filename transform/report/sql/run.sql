SELECT
    r.status, r.reason, r.is_sample,
    (SELECT market FROM core.home_market) AS home,
    (
        SELECT coalesce(g.gpu, s.value) FROM core.setting s LEFT JOIN core.gpu g ON g.gpu_id = s.value
        WHERE s.setting = 'baseline_gpu_id'
    ) AS baseline
FROM ops.last_run r
