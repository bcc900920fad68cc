-- A low or a high beyond half or double of what the card's neighbouring days have, the 14 on each side, is the market's only
-- where two listings show it: one alone may be a slip, or another product under the same title. Of the days from `$since`.
WITH near AS (
    SELECT *, median(low_usd) OVER neighbours AS usual_low, median(high_usd) OVER neighbours AS usual_high
    FROM core.price_day
    WHERE day >= $since::DATE - 14
    WINDOW neighbours AS (
        PARTITION BY gpu_id, market ORDER BY day
        RANGE BETWEEN INTERVAL 14 DAY PRECEDING AND INTERVAL 14 DAY FOLLOWING EXCLUDE CURRENT ROW
    )
)
SELECT
    gpu_id,
    market,
    day,
    coalesce(
        low_usd < usual_low / 2 AND coalesce(second_low_usd >= usual_low / 2, true)
        OR low_usd > usual_low * 2 AND listings = 1
        OR high_usd > usual_high * 2 AND coalesce(second_high_usd <= usual_high * 2, true)
        OR high_usd < usual_high / 2 AND listings = 1,
        false
    ) AS suspect
FROM near
WHERE day >= $since
