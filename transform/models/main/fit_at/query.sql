-- A measured speed stands beside the bound of an empty cache: benchmarks write a few hundred tokens, and at a longer context
-- the same speed may be above what the card can reach.
WITH measured AS (
    SELECT w.model_id, w.precision, r.gpu_id, r.score::DOUBLE AS tokens_per_s
    FROM core.workload w JOIN mart.ranking r ON r.workload_id = w.workload_id
    WHERE w.output = 'token'
),
-- A card of less bandwidth is not expected to be faster than one that was measured with more: where software or the CPU
-- was what limited, it limits the others too.
ceiling AS (
    SELECT m.model_id, m.precision, g.gpu_id, min(m.tokens_per_s) AS tokens_per_s
    FROM measured m
    JOIN core.gpu faster ON faster.gpu_id = m.gpu_id
    JOIN core.gpu g ON g.memory_bandwidth_gb_s <= faster.memory_bandwidth_gb_s
    GROUP BY m.model_id, m.precision, g.gpu_id
),
card AS (
    SELECT g.gpu_id, g.gpu, g.memory_gb, g.memory_bandwidth_gb_s, n.cards
    FROM core.gpu g CROSS JOIN (SELECT unnest([1, 2, 4, 8]) AS cards) n
    WHERE g.memory_gb > 0
),
fit AS (
    SELECT
        n.model_id,
        n.precision,
        n.context_tokens,
        c.gpu_id,
        c.gpu,
        c.cards,
        -- A model of text is spread over all cards, an image model is not: each card makes its own pictures.
        CASE WHEN n.model_kind = 'diffusion' THEN 1 ELSE c.cards END AS together,
        (n.resident_bytes + n.cache_bytes + n.activation_bytes * together) / 1e9 AS needed_gb,
        core.usable_gb(c.memory_gb, together) AS available_gb,
        sequences * c.memory_bandwidth_gb_s * 1e9 / (n.weights_read_bytes + n.cache_bytes) AS bound,
        sequences * c.memory_bandwidth_gb_s * 1e9 / n.weights_read_bytes AS bound_of_empty_cache,
        -- Of one sequence: that is what was measured.
        CASE WHEN sequences = 1 THEN m.tokens_per_s END AS measured,
        CASE WHEN sequences = 1 THEN t.tokens_per_s END AS ceiling,
        n.layers,
        n.hidden_size
    FROM model_need(precisions, contexts, sequences) n
    CROSS JOIN card c
    LEFT JOIN measured m ON m.model_id = n.model_id AND m.precision = n.precision AND m.gpu_id = c.gpu_id
    LEFT JOIN ceiling t ON t.model_id = n.model_id AND t.precision = n.precision AND t.gpu_id = c.gpu_id
)
SELECT
    f.model_id,
    f.precision,
    f.context_tokens,
    f.gpu_id,
    f.gpu,
    f.cards AS gpu_count,
    f.needed_gb,
    f.available_gb,
    f.needed_gb <= f.available_gb AS fits,
    core.several_cards(f.bound, f.cards, f.layers, f.hidden_size, sequences) AS decode_bound_tokens_per_s,
    CASE WHEN f.cards = 1 THEN f.measured END AS measured_tokens_per_s,
    CASE WHEN f.cards = 1 THEN f.measured / f.bound_of_empty_cache END AS bandwidth_utilisation,
    CASE
        WHEN f.cards > 1 OR f.measured IS NULL THEN NULL
        WHEN f.measured > f.bound_of_empty_cache THEN 'error in data or formula'
        WHEN f.measured < f.bound_of_empty_cache * core.assumed('low_utilisation')
            THEN 'limited by software or CPU, not by the card'
        ELSE 'limited by the card'
    END AS verdict,
    core.several_cards(
        CASE
            WHEN f.bound IS NULL THEN NULL
            WHEN f.measured IS NOT NULL THEN least(f.measured, f.bound)
            ELSE least(f.bound * core.assumed('expected_utilisation'), f.ceiling)
        END,
        f.cards, f.layers, f.hidden_size, sequences
    ) AS expected_tokens_per_s
FROM fit f
