SELECT
    c.offer_id,
    c.gpu_id,
    g.gpu,
    c.gpu_name,
    c.provider,
    c.region,
    c.instance,
    c.gpu_count,
    c.pricing_model,
    c.price,
    c.currency,
    (c.price::DOUBLE * fx.usd_rate)::DECIMAL(18, 4) AS instance_hour_usd,
    (c.price::DOUBLE * fx.usd_rate / c.gpu_count)::DECIMAL(18, 4) AS gpu_hour_usd,
    CASE WHEN c.currency <> 'USD' THEN fx.fx_day END AS fx_day,
    c.source,
    c.match_status,
    c.match_candidates,
    c.valid_from AS price_since,
    c.snapshot_sha256
FROM core.cloud_offer_history c
LEFT JOIN core.fx_usd fx ON fx.currency = c.currency
LEFT JOIN core.gpu g ON g.gpu_id = c.gpu_id
-- A rate that was not believed, or that nobody has seen for too long, does not count as available.
ANTI JOIN core.aged_out a ON a.listing_id = c.offer_id
WHERE c.valid_to IS NULL AND c.price IS NOT NULL AND (c.confirmed_until IS NULL OR c.confirmed_until >= c.valid_from)
ORDER BY c.gpu_id, c.pricing_model, gpu_hour_usd, c.offer_id
