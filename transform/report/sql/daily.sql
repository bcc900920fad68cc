SELECT gpu_id, day, low_usd AS low, median_usd AS median, high_usd AS high, suspect IS TRUE AS suspect FROM mart.price_daily ORDER BY gpu_id, day
