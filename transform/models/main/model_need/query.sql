WITH asked AS (
    SELECT tokens, greatest(1, round_even(tokens * core.assumed('context_read'), 0))::BIGINT AS written
    FROM (SELECT unnest(contexts)::BIGINT AS tokens)
),
-- A layer with a sliding window keeps no more than the window. A window of one token is a state, which keeps its own 16 bits.
cache AS (
    SELECT k.model_id, a.tokens,
        coalesce(sum(k.cache_elements_per_token * least(a.tokens, coalesce(k.window_tokens, a.tokens)))
            FILTER (k.window_tokens IS DISTINCT FROM 1), 0) AS elements,
        -- A server reads prompts in pieces, and keeps a piece beside the window: piece_tokens in transform/speed/engines.toml.
        coalesce(sum(k.cache_elements_per_token * least(a.tokens, coalesce(k.window_tokens + 8191, a.tokens)))
            FILTER (k.window_tokens IS DISTINCT FROM 1), 0) AS server_elements,
        -- While an answer is written a share of the context is held.
        coalesce(sum(k.cache_elements_per_token * least(a.written, coalesce(k.window_tokens, a.written)))
            FILTER (k.window_tokens IS DISTINCT FROM 1), 0) AS written_elements,
        coalesce(sum(k.cache_elements_per_token) FILTER (k.window_tokens = 1), 0) * 2 AS state_bytes
    FROM core.model_cache k CROSS JOIN asked a
    GROUP BY k.model_id, a.tokens
),
bits AS (
    SELECT core.assumed('kv_cache_bits') AS kv, core.assumed('prefill_chunk_tokens')::BIGINT AS chunk
)
SELECT
    m.model_id,
    m.model_kind,
    w.precision,
    a.tokens AS context_tokens,
    w.weights_bytes AS resident_bytes,
    w.always_read_bytes + w.expert_bytes AS on_card_bytes,
    (floor(c.elements * sequences * bits.kv / 8) + c.state_bytes * sequences)::BIGINT AS cache_bytes,
    (floor(c.server_elements * sequences * bits.kv / 8) + c.state_bytes * sequences)::BIGINT AS server_cache_bytes,
    ((floor(c.written_elements * bits.kv / 8) + c.state_bytes) * sequences)::BIGINT AS written_cache_bytes,
    sequences * (least(a.tokens, bits.chunk) * m.activation_bytes_per_token + m.activation_bytes_per_sequence)
        AS activation_bytes,
    -- With even routing, this many of the experts are reached by all sequences together.
    CASE WHEN m.model_kind = 'decoder' THEN w.always_read_bytes
        + w.expert_bytes * CASE WHEN m.experts = 1 THEN 0 ELSE 1 - (1 - m.used_experts / m.experts) ** sequences END
    END AS weights_read_bytes,
    m.layers,
    m.hidden_size
FROM core.model m
JOIN core.model_weights w ON w.model_id = m.model_id
JOIN cache c ON c.model_id = m.model_id
JOIN asked a ON a.tokens = c.tokens
CROSS JOIN bits
WHERE m.model_kind NOT IN ('diffusion', 'video') AND list_contains(precisions, w.precision) AND a.tokens BETWEEN 1 AND m.max_context_tokens
UNION ALL
-- The stage that needs most. Of a picture its temporary memory is assumed, of a clip it is counted.
SELECT
    model_id,
    model_kind,
    precision,
    NULL,
    max_by(weights, weights + activations),
    max_by(weights, weights + activations),
    0,
    0,
    0,
    max_by(activations, weights + activations),
    NULL,
    NULL,
    NULL
FROM (
    SELECT
        m.model_id,
        m.model_kind,
        w.precision,
        floor(s.parameters * round(w.bits_per_weight) / 8) AS own,
        round(own + core.assumed('networks_on_card') * (w.weights_bytes - own))::BIGINT AS weights,
        (sequences * coalesce(s.activation_bytes, round(m.image_side_px ** 2 * 1e3 * CASE s.stage
            WHEN 'denoiser' THEN core.assumed('denoiser_activation_gb_per_megapixel')
            ELSE core.assumed('image_activation_gb_per_megapixel')
        END)))::BIGINT AS activations
    FROM core.model m
    JOIN core.model_weights w ON w.model_id = m.model_id
    JOIN core.model_stage s ON s.model_id = m.model_id
    WHERE m.model_kind IN ('diffusion', 'video') AND list_contains(precisions, w.precision)
)
GROUP BY ALL
