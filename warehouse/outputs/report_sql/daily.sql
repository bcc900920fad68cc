SELECT gpu_id, day, low_usd
FROM mart.price_daily
WHERE day > $as_of::DATE - 365 AND suspect IS NOT TRUE
ORDER BY gpu_id, day
