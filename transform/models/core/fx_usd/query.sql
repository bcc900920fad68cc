-- A currency that has left the file has no rate, and a rate source that is too old has none at all: a price in that currency
-- is then shown as one without an exchange rate, and not at a rate of another year.
SELECT currency, arg_max(usd_rate, fx_day) AS usd_rate, max(fx_day) AS fx_day
FROM core.fx_usd_daily
WHERE NOT EXISTS (SELECT 1 FROM core.source_freshness f WHERE f.source = 'ecb_fx' AND NOT f.is_usable)
GROUP BY currency
HAVING max(fx_day) >= (SELECT max(fx_day) FROM core.fx_usd_daily) - 10
UNION ALL
SELECT 'USD', 1.0, NULL
