SELECT gpu_id, coalesce(exclusion, condition) AS why, count(*) AS count
FROM core.offer
WHERE exclusion IS NOT NULL OR condition <> 'new'
GROUP BY ALL
ORDER BY gpu_id, count DESC, why
