-- Least squares on the logarithm, beginning at the launch price, so that each sale counts by its ratio. A history is extrapolated
-- to at most twice its length, and a card whose price rose in a shortage is not assumed to go on rising.
WITH sale AS (
    SELECT
        i.gpu_id,
        i.price::DOUBLE AS usd,
        -- A day or a month. The middle of the month stands for a month.
        coalesce(try_cast(i.period AS DATE), try_cast(i.period || '-15' AS DATE)) AS sold_on
    FROM core.index_price i
    WHERE i.valid_to IS NULL AND i.condition = 'used' AND i.currency = 'USD' AND i.price > 0 AND i.match_status = 'matched'
),
point AS (
    SELECT g.gpu_id, 0.0 AS age_years, g.msrp_usd::DOUBLE AS usd, false AS is_used
    FROM core.gpu g WHERE g.msrp_usd > 0 AND g.released_on IS NOT NULL
    UNION ALL
    SELECT s.gpu_id, date_diff('day', g.released_on, s.sold_on) / 365.25, s.usd, true
    FROM sale s JOIN core.gpu g ON g.gpu_id = s.gpu_id
    WHERE s.sold_on > g.released_on AND g.msrp_usd > 0
),
trend AS (
    SELECT
        gpu_id,
        count(*) FILTER (is_used) AS used_prices,
        max(age_years) AS history_years,
        arg_max(usd, age_years) AS last_used_usd,
        least(1, exp(regr_slope(ln(usd), age_years))) AS kept
    FROM point GROUP BY gpu_id HAVING count(*) FILTER (is_used) > 0
)
SELECT
    t.gpu_id,
    g.gpu,
    t.used_prices,
    round(t.history_years, 2) AS history_years,
    t.last_used_usd::DECIMAL(18, 2) AS last_used_usd,
    t.kept::DECIMAL(18, 6) AS observed_value_kept_per_year,
    t.history_years * 2 >= core.assumed('horizon_years') AS is_long_enough
FROM trend t
JOIN core.gpu g ON g.gpu_id = t.gpu_id
ORDER BY t.gpu_id
