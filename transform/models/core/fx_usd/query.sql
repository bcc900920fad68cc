-- The rate of today, which is the newest day with one. A currency that has left the file has no rate, and a rate source that is
-- too old has none at all.
WITH newest AS (
    SELECT currency, arg_max(usd_rate, fx_day) AS rate, max(fx_day) AS fx_day FROM core.fx_usd_daily GROUP BY currency
)
SELECT currency, core.usd_rate_on(currency, rate, fx_day, (SELECT max(fx_day) FROM newest)) AS usd_rate, fx_day
FROM newest
WHERE usd_rate IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM core.source_freshness f WHERE f.source = 'ecb_fx' AND NOT f.is_usable)
UNION ALL
SELECT 'USD', 1.0, NULL
