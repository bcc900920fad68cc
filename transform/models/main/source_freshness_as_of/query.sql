-- Ages are measured at the newest sighting of that day, not at its end: on the sample's nights and on a machine that was off,
-- no source had grown old because nothing ran.
WITH night AS (
    SELECT source, max(seen_at) AS seen_at, max(seen_at) FILTER (is_complete) AS complete_at
    FROM core.source_night WHERE seen_at < core.end_of_day(as_of_day) GROUP BY source
)
SELECT n.source, newest.seen_at AS newest_at, st.freshness_hours,
    core.is_fresh(n.seen_at, newest.seen_at, st.freshness_hours) AS is_usable,
    -- What an incomplete night did not show is marked row by row only until a later night shows it again.
    CASE WHEN n.seen_at >= st.last_success_at THEN n.seen_at ELSE n.complete_at END AS all_seen_at
FROM night n CROSS JOIN (SELECT max(seen_at) AS seen_at FROM night) newest
JOIN ops.source_state st ON st.source = n.source
