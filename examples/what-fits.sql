-- Which cards run a model at 4 bits a weight with 4096 tokens, the cheapest first?
SELECT rank, gpu_count, gpu, total_price_usd, round(expected_tokens_per_s, 1) AS tokens_per_s
FROM cheapest_fit('llama-2-13b', 'int4', 4096)
ORDER BY rank
LIMIT 10;
