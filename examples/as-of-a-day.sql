-- What was best value on a past day, as it was known then?
SELECT value_rank, gpu, price_usd
FROM value_as_of(DATE '2023-11-16')
WHERE workload_id = 'sd-512-image-generation' AND price_basis = 'street'
ORDER BY value_rank
LIMIT 5;
