-- What do a million tokens cost, on which card, owned or rented?
SELECT workload_id, gpu, way, round(usd_per_million_tokens, 2) AS usd_per_million_tokens
FROM mart.output_cost
WHERE usd_per_million_tokens IS NOT NULL
ORDER BY usd_per_million_tokens, gpu, way
LIMIT 10;
