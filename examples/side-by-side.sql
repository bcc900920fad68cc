-- How do all cards compare to the baseline in every workload?
SELECT *
FROM mart.comparison
ORDER BY gpu_id;
