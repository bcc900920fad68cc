-- An instance can replace a card if each of its GPUs has at least the memory and bandwidth of the card. Then everything that runs
-- on the card also runs on the instance, and memory does not make it slower. One card is compared with one GPU: the rent of eight
-- says nothing about the price of one. What is sold in machines alone is compared as a machine with as many of the same GPU.
WITH card AS (
    SELECT p.gpu_id, g.gpu, p.price_usd, g.tdp_w, g.segment, g.form_factor, g.memory_type, g.gpus_on_board, g.memory_gb, g.memory_bandwidth_gb_s
    FROM mart.gpu_price p JOIN core.gpu g ON g.gpu_id = p.gpu_id
    WHERE p.price_usd IS NOT NULL AND g.tdp_w IS NOT NULL
),
same AS (
    SELECT c.gpu_id, r.offer_id, 'same card' AS comparability, ceil(r.gpu_count / c.gpus_on_board)::INTEGER AS cards
    FROM card c JOIN core.rental r ON r.gpu_id = c.gpu_id
),
enough AS (
    SELECT c.gpu_id, r.offer_id, 'does as much' AS comparability, 1 AS cards
    FROM card c
    JOIN core.rental r ON r.gpu_id IS DISTINCT FROM c.gpu_id AND r.gpu_count = 1
        AND r.gpu_memory_gb >= c.memory_gb * c.gpus_on_board AND r.gpu_bandwidth_gb_s >= c.memory_bandwidth_gb_s
    QUALIFY row_number() OVER (PARTITION BY c.gpu_id, r.pricing_model ORDER BY r.instance_hour_usd, r.offer_id) = 1
),
node AS (
    SELECT n.gpu_id, n.gpu, n.gpus, n.price_usd, n.tdp_w, n.segment, n.form_factor, n.memory_type
    FROM core.node_price n
    WHERE n.gpu_id NOT IN (SELECT gpu_id FROM card)
)
SELECT
    c.gpu_id,
    c.gpu,
    c.price_usd,
    c.tdp_w,
    c.segment,
    c.form_factor,
    c.memory_type,
    o.cards,
    o.comparability,
    r.offer_id,
    r.gpu_name,
    r.gpu_count,
    r.provider,
    r.region,
    r.instance,
    r.pricing_model,
    r.instance_hour_usd
FROM (
    SELECT gpu_id, offer_id, comparability, cards FROM same UNION ALL
    SELECT gpu_id, offer_id, comparability, cards FROM enough
) o
JOIN card c ON c.gpu_id = o.gpu_id
JOIN core.rental r ON r.offer_id = o.offer_id
UNION ALL
SELECT
    n.gpu_id, n.gpu, n.price_usd, n.tdp_w, n.segment, n.form_factor, n.memory_type, n.gpus AS cards,
    'same node' AS comparability, r.offer_id, r.gpu_name, r.gpu_count, r.provider, r.region, r.instance, r.pricing_model,
    r.instance_hour_usd
FROM node n
JOIN core.rental r ON r.gpu_id = n.gpu_id AND r.gpu_count = n.gpus
