-- How much of its price does a card keep from one year to the next?
SELECT gpu, observed_value_kept_per_year, is_long_enough
FROM mart.resale
ORDER BY gpu;
