SELECT source AS shop, reason, count(*) AS count, min(snapshot_sha256) AS evidence
FROM ops.quarantine
WHERE run_id = (SELECT run_id FROM ops.last_run)
GROUP BY ALL
ORDER BY source, count DESC, reason
