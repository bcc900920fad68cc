-- A name that may mean several cards (V100) is compared by the smallest values of them. Whichever card it is, the instance has at
-- least that much. Nobody guesses which card it is.
WITH candidate AS (
    SELECT c.offer_id, unnest(string_split(coalesce(c.gpu_id, c.match_candidates), ' ')) AS gpu_id
    FROM mart.cloud_price c
),
least_of AS (
    SELECT c.offer_id, count(*) AS candidates, min(g.memory_gb) AS gpu_memory_gb, min(g.memory_bandwidth_gb_s) AS bandwidth
    FROM candidate c JOIN core.gpu g ON g.gpu_id = c.gpu_id
    GROUP BY c.offer_id
    HAVING count(*) = count(g.memory_gb) AND count(*) = count(g.memory_bandwidth_gb_s)
)
SELECT
    c.offer_id,
    c.gpu_id,
    c.gpu_name,
    c.provider,
    c.region,
    c.instance,
    c.gpu_count,
    c.pricing_model,
    c.instance_hour_usd,
    l.gpu_memory_gb,
    l.bandwidth AS gpu_bandwidth_gb_s,
    l.candidates AS gpu_candidates,
    c.source,
    c.price_since,
    c.snapshot_sha256
FROM mart.cloud_price c
JOIN least_of l ON l.offer_id = c.offer_id
JOIN core.source_freshness f ON f.source = c.source AND f.is_usable
WHERE c.instance_hour_usd > 0 AND c.gpu_count >= 1
