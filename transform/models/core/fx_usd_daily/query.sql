-- The European Central Bank publishes the rate of each currency for one euro. The rate to the dollar is the ratio of two such rates
-- of one day. If the rates of a day were corrected, those that were loaded last count.
WITH known AS (
    SELECT day, currency, arg_max(rate, loaded_at)::DOUBLE AS rate FROM core.fx_rate WHERE base = 'EUR' GROUP BY ALL
),
dollar AS (
    SELECT day, rate FROM known WHERE currency = 'USD'
)
SELECT k.currency, k.day AS fx_day, d.rate / k.rate AS usd_rate FROM known k JOIN dollar d USING (day) WHERE k.currency <> 'USD'
UNION ALL
SELECT 'EUR', day, rate FROM dollar
