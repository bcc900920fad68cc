-- A view, not a table: eight million rows would be hundreds of megabytes that every night copies. The view answers in milliseconds
-- for one model or one card, and in seconds for all. A change of an assumption also has an effect at once.
SELECT model_id, precision, context_tokens, gpu_id, gpu, gpu_count, needed_gb, available_gb, fits, decode_bound_tokens_per_s,
    measured_tokens_per_s, bandwidth_utilisation, verdict, expected_tokens_per_s, low_tokens_per_s, high_tokens_per_s, speed_basis, engine, split, fit
FROM fit_at(['fp16', 'int8', 'int4', 'Q4_K_M'], [512, 2048, 8192, 32768], 1)
