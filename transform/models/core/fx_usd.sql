-- The European Central Bank quotes currencies for one euro; a dollar amount is the ratio of two such rates of one day. A
-- currency that has left the file has no rate, and a rate source that is too old has none at all: a price in that currency
-- is then shown as one without an exchange rate, and not at a rate of another year.
WITH known AS (
    SELECT day, currency, arg_max(rate, loaded_at) AS rate FROM core.fx_rate
    WHERE base = 'EUR' AND NOT EXISTS (
        SELECT 1 FROM core.source_freshness f WHERE f.source = 'ecb_fx' AND NOT f.is_usable
    )
    GROUP BY ALL
),
newest AS (
    SELECT currency, max(day) AS day, arg_max(rate, day) AS rate FROM known GROUP BY currency
    HAVING max(day) >= (SELECT max(day) FROM known) - 10
),
dollar AS (
    SELECT day, rate FROM known WHERE currency = 'USD'
)
SELECT n.currency, dollar.rate::DOUBLE / n.rate::DOUBLE AS usd_rate, n.day AS fx_day
FROM newest n JOIN dollar ON dollar.day = n.day
WHERE n.currency <> 'USD'
UNION ALL
SELECT 'EUR', arg_max(rate, day)::DOUBLE, max(day) FROM dollar HAVING count(*) > 0
UNION ALL
SELECT 'USD', 1.0, NULL
