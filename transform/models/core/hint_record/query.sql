-- A view for the same reason as mart.price_trend. Mondays are enough: the hints of neighbouring days say nearly the same.
WITH daily AS (
    SELECT gpu_id, day, low_usd::DOUBLE AS low, row_number() OVER (PARTITION BY gpu_id ORDER BY day) AS days
    FROM mart.price_daily
    WHERE suspect IS NOT TRUE
),
newest AS (SELECT gpu_id, max(day) AS day FROM daily GROUP BY gpu_id),
monday AS (
    SELECT d.gpu_id, d.day, d.low, d.days
    FROM daily d JOIN newest n ON n.gpu_id = d.gpu_id AND d.day > n.day - 395 AND d.day <= n.day - 30
    WHERE isodow(d.day) = 1
),
held AS (
    SELECT
        m.gpu_id,
        m.day,
        core.price_hint(
            any_value(m.days),
            any_value(m.low) / arg_max(d.low, d.day) FILTER (d.day BETWEEN m.day - 37 AND m.day - 30) - 1,
            any_value(m.low) / min(d.low) FILTER (d.day BETWEEN m.day - 29 AND m.day) - 1
        ) AS hint,
        -- The price of 30 days later, or of the nearest later day within a week.
        arg_min(d.low, d.day) FILTER (d.day BETWEEN m.day + 30 AND m.day + 37) <= any_value(m.low) * 0.98 AS fell
    FROM monday m JOIN daily d ON d.gpu_id = m.gpu_id AND d.day BETWEEN m.day - 37 AND m.day + 37
    GROUP BY m.gpu_id, m.day
    HAVING fell IS NOT NULL
),
weeks AS (SELECT gpu_id, count(*) AS weeks, count(*) FILTER (fell) AS falls FROM held GROUP BY gpu_id)
SELECT
    h.gpu_id,
    h.hint,
    count(*)::INTEGER AS given,
    count(*) FILTER (h.fell = (h.hint = 'wait'))::INTEGER AS was_right,
    (CASE WHEN h.hint = 'wait' THEN any_value(w.falls) ELSE any_value(w.weeks - w.falls) END / any_value(w.weeks))::DECIMAL(18, 4)
        AS right_on_any
FROM held h JOIN weeks w USING (gpu_id)
WHERE h.hint IN ('buy', 'wait')
GROUP BY h.gpu_id, h.hint
ORDER BY h.gpu_id, h.hint
