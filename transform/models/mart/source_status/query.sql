SELECT
    s.source,
    -- A batch that equals the last good batch is good too: reading one night twice must not change this table.
    CASE WHEN s.status = 'unchanged' THEN 'ok' ELSE s.status END AS status,
    -- If only some pages failed, the rows that were read are new, and the others are marked row by row (confirmed_until).
    s.status IN ('failed', 'refused') AS is_stale,
    s.reason,
    s.last_attempt_at,
    s.last_success_at,
    s.freshness_hours,
    (date_diff('minute', s.last_success_at, r.as_of) / 60.0)::DECIMAL(18, 1) AS age_hours,
    s.rows
FROM ops.source_state s
CROSS JOIN (SELECT max(as_of) AS as_of FROM ops.run) r
ORDER BY s.source
