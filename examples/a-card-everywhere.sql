-- What does one card cost in each country, net of tax?
SELECT market, price_usd, net_usd, source
FROM mart.market_price
WHERE gpu_id = 'nvidia-geforce-rtx-4090' AND price_usd IS NOT NULL
ORDER BY net_usd;
