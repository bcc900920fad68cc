-- The card's last day with a price decides. mart.price_daily marks it by the same bounds (transform/build/price_days_suspect.sql), so
-- a price that makes a day suspect is outside of them, and the other offers of that day are inside.
WITH newest AS (
    SELECT gpu_id, market, max(day) AS day, arg_max(listings, day) AS listings
    FROM core.price_day WHERE day BETWEEN as_of_day::DATE - 14 AND as_of_day::DATE
    GROUP BY ALL HAVING arg_max(suspect, day)
)
SELECT n.gpu_id, n.market,
    median(CASE WHEN n.listings = 1 THEN d.high_usd ELSE d.low_usd END)::DOUBLE / 2 AS least_usd,
    median(CASE WHEN n.listings = 1 THEN d.low_usd ELSE d.high_usd END)::DOUBLE * 2 AS most_usd
FROM newest n
JOIN core.price_day d ON d.gpu_id = n.gpu_id AND d.market = n.market AND d.day <> n.day AND d.day BETWEEN n.day - 14 AND n.day + 14
WHERE d.day BETWEEN as_of_day::DATE - 28 AND as_of_day::DATE + 14
GROUP BY ALL
