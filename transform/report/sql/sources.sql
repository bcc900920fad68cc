SELECT
    source, status, reason, last_success_at, freshness_hours, rows,
    is_stale OR last_success_at IS NULL OR age_hours > freshness_hours AS is_old
FROM mart.source_status
ORDER BY is_old DESC, source
