-- What is the fastest card for at most 500 dollars, in each workload?
SELECT workload_id, gpu, score, unit, price_usd
FROM mart.value
WHERE price_basis = 'street' AND price_usd <= 500
QUALIFY row_number() OVER (PARTITION BY workload_id ORDER BY score DESC, price_usd) = 1
ORDER BY workload_id;
