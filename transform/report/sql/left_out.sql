SELECT in_market AS market, gpu_id, coalesce(exclusion, condition) AS why, count(*) AS count
FROM core.market_offer
WHERE in_market <> 'all' AND gpu_id IS NOT NULL AND (exclusion IS NOT NULL OR condition <> 'new')
GROUP BY ALL
ORDER BY market, gpu_id, count DESC, why
