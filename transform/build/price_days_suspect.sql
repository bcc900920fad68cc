-- Marks days from `$since` on as suspect. A low or high is compared with the card's neighbouring days, 14 on each side. If it is
-- less than half or more than double of theirs, it counts as a market price only if two listings show it. A single listing may
-- have a mistake, or be another product under the same title.
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
