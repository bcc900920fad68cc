-- How old are the data of each source, and may they still be used?
SELECT source, status, age_hours, freshness_hours, rows
FROM mart.source_status
ORDER BY source;
