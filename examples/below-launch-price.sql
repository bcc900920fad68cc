-- Which cards cost less than at launch?
SELECT gpu, price_usd, msrp_usd, round(100 * premium_over_msrp, 1) AS percent
FROM mart.gpu_price
WHERE premium_over_msrp < 0
ORDER BY premium_over_msrp;
