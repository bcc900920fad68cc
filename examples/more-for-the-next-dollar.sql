-- Where does speed rise faster than price from one card to a dearer one?
SELECT workload_id, from_gpu, to_gpu, round(step_score_ratio, 2) AS faster, round(step_price_ratio, 2) AS dearer
FROM mart.marginal_value
WHERE price_basis = 'street' AND is_frontier_step AND rises_more_than_price
ORDER BY workload_id, from_gpu, to_gpu;
