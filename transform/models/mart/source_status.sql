SELECT
    s.source,
    s.status,
    s.status NOT IN ('ok', 'unchanged') AS is_stale,
    s.reason,
    s.last_attempt_at,
    s.last_success_at,
    s.freshness_hours,
    (date_diff('minute', s.last_success_at, r.as_of) / 60.0)::DECIMAL(18, 1) AS age_hours,
    s.rows
FROM ops.source_state s
CROSS JOIN (SELECT max(as_of) AS as_of FROM ops.run) r
ORDER BY s.source
