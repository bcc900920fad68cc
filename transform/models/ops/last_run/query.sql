-- The row is that of the newest run, but its times are the newest of all runs, so that a backfill of old nights does not make
-- prices look younger.
SELECT
    run_id,
    status,
    reason,
    max(started_at) OVER () AS started_at,
    max(as_of) OVER () AS as_of,
    max(as_of) FILTER (sample_night IS NULL) OVER () AS live_as_of,
    max(as_of) FILTER (sample_night IS NOT NULL) OVER () AS sample_as_of,
    max(sample_night) OVER () AS sample_night,
    -- One run of the sample is enough: its prices stay in the history of the folder.
    sample_as_of IS NOT NULL AS is_sample
FROM ops.run
WHERE status LIKE 'published%'
ORDER BY rowid DESC
LIMIT 1
