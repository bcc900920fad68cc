SELECT
    m.model_id, m.model_kind, m.family, m.repository, m.parameters, m.active_parameters, m.max_context_tokens, m.layers,
    m.weights_fp16_gb, m.weights_int8_gb, m.weights_int4_gb, m.weights_q4_k_m_gb, m.kv_bytes_per_token
FROM core.model m
ORDER BY m.family, m.parameters, m.model_id
