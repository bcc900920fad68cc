-- The European Central Bank quotes currencies for one euro; a dollar amount is the ratio of two such rates of one day.
WITH newest AS (
    SELECT currency, base, max(day) AS day, arg_max(rate, day) AS rate FROM core.fx_rate GROUP BY currency, base
),
dollar AS (
    SELECT day, rate FROM core.fx_rate WHERE currency = 'USD' AND base = 'EUR'
)
SELECT n.currency, dollar.rate::DOUBLE / n.rate::DOUBLE AS usd_rate, n.day AS fx_day
FROM newest n JOIN dollar ON dollar.day = n.day
WHERE n.base = 'EUR' AND n.currency <> 'USD'
UNION ALL
SELECT 'EUR', arg_max(rate, day)::DOUBLE, max(day) FROM dollar HAVING count(*) > 0
UNION ALL
SELECT 'USD', 1.0, NULL
