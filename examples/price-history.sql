-- How did a card's price move, day by day?
SELECT day, low_usd, median_usd, high_usd, suspect
FROM mart.price_daily
WHERE gpu_id = 'nvidia-geforce-rtx-4090'
ORDER BY day;
