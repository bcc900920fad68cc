SELECT t.name AS "table", t.comment AS description, c.column_name AS "column", c.data_type AS type, c.comment AS meaning
FROM (
    SELECT schema_name || '.' || table_name AS name, schema_name, table_name, comment
    FROM duckdb_tables() WHERE database_name = 'gpuledger'
    UNION ALL
    SELECT schema_name || '.' || view_name, schema_name, view_name, comment
    FROM duckdb_views() WHERE database_name = 'gpuledger' AND NOT internal
) t
JOIN duckdb_columns() c
    ON c.database_name = 'gpuledger' AND c.schema_name = t.schema_name AND c.table_name = t.table_name
WHERE list_contains($tables, t.name)
ORDER BY t.name, c.column_index
