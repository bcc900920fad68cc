-- On which archived page does a price rest?
SELECT gpu, price_usd, source, price_since, snapshot_sha256
FROM mart.gpu_price
WHERE price_usd IS NOT NULL
ORDER BY gpu;
