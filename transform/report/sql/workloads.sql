SELECT workload_id, workload, unit, description, output, model_id, precision
FROM core.workload
SEMI JOIN mart.ranking USING (workload_id)
ORDER BY output IS NULL, core.workload.rowid
