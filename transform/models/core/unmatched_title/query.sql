SELECT 'listing' AS kind, l.source, l.title, l.url, l.specs, l.match_status, l.match_candidates, l.match_rule, s.price, s.currency
FROM core.listing l
LEFT JOIN core.price_open s ON s.listing_id = l.listing_id
WHERE l.match_status IN ('ambiguous', 'unmatched') AND l.ended_at IS NULL
UNION ALL
SELECT DISTINCT 'score', source, gpu_name, article_url, specs, match_status, match_candidates, match_rule, NULL, NULL
FROM core.benchmark_score
WHERE match_status <> 'matched' AND valid_to IS NULL
UNION ALL
SELECT DISTINCT 'index_price', source, gpu_name, NULL, NULL, match_status, match_candidates, match_rule, price, currency
FROM core.index_price
WHERE match_status <> 'matched' AND valid_to IS NULL
UNION ALL
SELECT DISTINCT 'cloud_offer', source, gpu_name, NULL, instance, match_status, match_candidates, match_rule, price, currency
FROM core.cloud_offer_history
WHERE match_status <> 'matched' AND valid_to IS NULL
