SELECT gpu_id, day, low_usd, median_usd, high_usd, listings, market, second_low_usd, second_high_usd, suspect
FROM core.price_day WHERE market = (SELECT market FROM core.home_market)
