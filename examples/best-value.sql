-- Which cards give most for their price in an image workload, and where are they sold?
SELECT v.value_rank, v.gpu, v.price_usd, p.source, p.url
FROM mart.value v
JOIN mart.gpu_price p ON p.gpu_id = v.gpu_id
WHERE v.workload_id = 'sd-512-image-generation' AND v.price_basis = 'street'
ORDER BY v.value_rank
LIMIT 5;
