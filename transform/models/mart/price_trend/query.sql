-- A view, because the windows move with the clock even if no price changes.
WITH daily AS (
    SELECT gpu_id, day, low_usd::DOUBLE AS low, lag(low_usd::DOUBLE) OVER (PARTITION BY gpu_id ORDER BY day) AS before
    FROM mart.price_daily
    WHERE suspect IS NOT TRUE
),
latest AS (
    SELECT gpu_id, max(day) AS day, arg_max(low, day) AS low FROM daily GROUP BY gpu_id
),
measured AS (
    SELECT
        l.gpu_id,
        l.day,
        l.low,
        count(*) AS days,
        -- The price of the day that many days ago, or of the nearest earlier day within a week.
        arg_max(d.low, d.day) FILTER (d.day BETWEEN l.day - 14 AND l.day - 7) AS low_7d,
        arg_max(d.low, d.day) FILTER (d.day BETWEEN l.day - 37 AND l.day - 30) AS low_30d,
        arg_max(d.low, d.day) FILTER (d.day BETWEEN l.day - 97 AND l.day - 90) AS low_90d,
        count(*) FILTER (d.day > l.day - 365 AND d.low < l.low) AS days_below,
        min(d.low) FILTER (d.day > l.day - 30) AS lowest_30d,
        count(*) FILTER (d.day > l.day - 365) AS days_of_year,
        min(d.low) AS lowest,
        -- The first day with that price, so that two builds choose the same day.
        min({'low': d.low, 'day': d.day}).day AS lowest_on,
        stddev_samp(ln(d.low / d.before)) FILTER (d.day > l.day - 90 AND d.before > 0) AS volatility
    FROM latest l JOIN daily d ON d.gpu_id = l.gpu_id
    GROUP BY l.gpu_id, l.day, l.low
),
trend AS (
    SELECT *, low / low_7d - 1 AS change_7d, low / low_30d - 1 AS change_30d, low / low_90d - 1 AS change_90d,
        days_below / days_of_year AS percentile,
        low / lowest_30d - 1 AS above_low_30d,
        ((SELECT max(seen_at) FROM core.source_night) AT TIME ZONE 'UTC')::DATE - day AS days_ago
    FROM measured
),
hinted AS (
    SELECT *, CASE WHEN days_ago > 7 THEN 'unknown' ELSE core.price_hint(days, change_30d, above_low_30d) END AS hint
    FROM trend
)
SELECT
    t.gpu_id,
    g.gpu,
    t.day,
    t.low::DECIMAL(18, 2) AS price_usd,
    t.change_7d::DECIMAL(18, 4) AS change_7d,
    t.change_30d::DECIMAL(18, 4) AS change_30d,
    t.change_90d::DECIMAL(18, 4) AS change_90d,
    t.percentile::DECIMAL(18, 4) AS percentile_1y,
    t.lowest::DECIMAL(18, 2) AS all_time_low_usd,
    t.lowest_on AS all_time_low_on,
    t.volatility::DECIMAL(18, 6) AS volatility_90d,
    t.days,
    t.hint,
    CASE
        -- People are told a sentence with a gap in their language by what stands here (flows/words/say.py).
        WHEN t.days_ago > 7
            THEN replace('no judgement on whether it is low: no price was seen for {days} days', '{days}', t.days_ago::VARCHAR)
        WHEN t.days < 30 THEN replace(
            'no judgement on whether it is low: its price is known on {days} of the 30 days that takes', '{days}', t.days::VARCHAR
        )
        WHEN t.change_30d <= -0.1 THEN replace(
            'it fell by {share}% in 30 days and may go on', '{share}', round(-100 * t.change_30d)::INTEGER::VARCHAR
        )
        WHEN t.hint = 'buy' THEN 'near its lowest of 30 days, and not falling'
        ELSE replace(
            'neither near its lowest of 30 days nor falling fast: {share}% of the days of a year were cheaper',
            '{share}', round(100 * t.percentile)::INTEGER::VARCHAR
        )
    END AS reason,
    r.given AS hint_given,
    r.was_right AS hint_was_right,
    r.right_on_any AS hint_right_on_any
FROM hinted t
JOIN core.gpu g USING (gpu_id)
LEFT JOIN core.hint_record r ON r.gpu_id = t.gpu_id AND r.hint = t.hint
ORDER BY t.gpu_id
