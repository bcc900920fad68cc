SELECT workload_id, workload, unit, description, output IS NOT NULL AS is_ai
FROM core.workload
SEMI JOIN mart.value USING (workload_id)
ORDER BY is_ai DESC, core.workload.rowid
