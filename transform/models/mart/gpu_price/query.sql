SELECT * EXCLUDE (market), market
FROM mart.market_price WHERE market = (SELECT market FROM core.home_market)
ORDER BY gpu_id
