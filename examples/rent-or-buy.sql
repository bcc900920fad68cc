-- After how many hours has owning cost less than renting?
SELECT gpu, provider, instance, round(break_even_hours) AS hours, cheaper
FROM mart.rent_vs_buy
WHERE break_even_hours IS NOT NULL
ORDER BY break_even_hours
LIMIT 10;
