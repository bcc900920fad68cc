FROM core.price_day
