SELECT gpu_id, coalesce(exclusion, condition) AS why, count(*) AS count
FROM core.market_offer
WHERE in_market = (SELECT market FROM core.home_market) AND (exclusion IS NOT NULL OR condition <> 'new')
GROUP BY ALL
ORDER BY gpu_id, count DESC, why
