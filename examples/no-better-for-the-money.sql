-- Which cards does no other beat for no more money, and in how many workloads?
SELECT gpu, count(*) AS workloads, min(price_usd) AS price_usd
FROM mart.value
WHERE price_basis = 'street' AND on_pareto_frontier
GROUP BY gpu
ORDER BY workloads DESC, price_usd;
