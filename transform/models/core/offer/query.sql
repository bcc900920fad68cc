WITH priced AS (
    SELECT
        l.listing_id, l.gpu_id, l.gpu_count, l.source, l.title, l.url, s.condition, s.seller, s.seller_kind,
        s.price, s.currency, s.price_kind, s.list_price, s.availability, s.valid_from, s.confirmed_until,
        s.snapshot_sha256,
        (s.price::DOUBLE * fx.usd_rate)::DECIMAL(18, 2) AS price_usd,
        CASE WHEN s.currency <> 'USD' THEN fx.fx_day END AS fx_day,
        g.msrp_usd
    FROM core.listing l
    JOIN core.price_open s ON s.listing_id = l.listing_id
    LEFT JOIN core.fx_usd fx ON fx.currency = s.currency
    LEFT JOIN core.gpu g ON g.gpu_id = l.gpu_id
    WHERE l.match_status = 'matched' AND l.ended_at IS NULL
)
SELECT
    p.*,
    core.offer_exclusion(
        p.gpu_count, p.condition, f.is_usable, p.availability, p.seller_kind, p.seller, h.listing_id IS NOT NULL,
        p.confirmed_until IS NULL, p.price, p.price_kind, p.price_usd, p.msrp_usd
    ) AS exclusion
FROM priced p
LEFT JOIN core.source_freshness f ON f.source = p.source
LEFT JOIN core.held_price h ON h.listing_id = p.listing_id
