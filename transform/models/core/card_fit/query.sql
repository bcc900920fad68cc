-- What a buyer asks first of a card: one card, four bits a weight as llama.cpp packs them, 8192 tokens, one user. The list of what
-- to buy shows it every night, and it changes only when the catalogue or an assumption does.
SELECT
    f.gpu_id,
    max_by(f.model_id, (m.parameters, f.model_id)) AS largest_model_id,
    max_by(f.expected_tokens_per_s, (m.parameters, f.model_id)) AS largest_tokens_per_s,
    count(*)::INTEGER AS models
FROM fit_at(['Q4_K_M'], [8192], 1, counts := [1]) f
JOIN core.model m ON m.model_id = f.model_id
WHERE f.fits AND m.model_kind NOT IN ('diffusion', 'video')
GROUP BY f.gpu_id
ORDER BY f.gpu_id
