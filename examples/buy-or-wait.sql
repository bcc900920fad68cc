-- Which cards are at a low now, and on what does that rest?
SELECT gpu, price_usd, all_time_low_usd, hint, reason
FROM mart.price_trend
ORDER BY price_usd / all_time_low_usd, gpu;
