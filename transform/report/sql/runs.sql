-- The models of text that fit on one card alone, under the same conditions as in core.card_fit. Their speeds are not more exact.
SELECT f.gpu_id, f.model_id, round(f.expected_tokens_per_s, 1) AS expected_tokens_per_s,
    round(f.low_tokens_per_s, 1) AS low_tokens_per_s, round(f.high_tokens_per_s, 1) AS high_tokens_per_s, f.speed_basis, f.fit
FROM fit_at([$precision], [$context], 1, counts := [1]) f
SEMI JOIN (SELECT gpu_id FROM core.offer UNION SELECT gpu_id FROM mart.ranking) k ON k.gpu_id = f.gpu_id
WHERE f.gpu_count = 1 AND f.fits AND f.expected_tokens_per_s IS NOT NULL
ORDER BY f.gpu_id, f.model_id
