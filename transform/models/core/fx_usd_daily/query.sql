-- The European Central Bank quotes currencies for one euro; a dollar amount is the ratio of two such rates of one day. Of a
-- day that was corrected, the newest that was loaded counts.
WITH known AS (
    SELECT day, currency, arg_max(rate, loaded_at)::DOUBLE AS rate FROM core.fx_rate WHERE base = 'EUR' GROUP BY ALL
),
dollar AS (
    SELECT day, rate FROM known WHERE currency = 'USD'
)
SELECT k.currency, k.day AS fx_day, d.rate / k.rate AS usd_rate FROM known k JOIN dollar d USING (day) WHERE k.currency <> 'USD'
UNION ALL
SELECT 'EUR', day, rate FROM dollar
