SELECT
    c.gpu_id, coalesce(c.gpu, c.gpu_name) AS gpu, c.gpu_name, c.match_status, c.pricing_model, c.gpu_hour_usd, c.instance_hour_usd,
    c.provider, c.region, c.instance, c.gpu_count, c.source AS shop, c.price_since,
    core.last_seen_at(h.confirmed_until, st.last_success_at, c.price_since) AS confirmed_at, c.snapshot_sha256 AS evidence
FROM mart.cloud_price c
LEFT JOIN core.cloud_offer_history h ON h.offer_id = c.offer_id AND h.valid_to IS NULL
LEFT JOIN ops.source_state st ON st.source = c.source
WHERE c.gpu_hour_usd IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY coalesce(c.gpu_id, c.gpu_name), c.pricing_model, c.provider
    ORDER BY c.gpu_hour_usd, c.region NULLS LAST, c.instance NULLS LAST, c.gpu_count
) = 1
ORDER BY c.gpu_hour_usd, gpu, c.provider, c.pricing_model
