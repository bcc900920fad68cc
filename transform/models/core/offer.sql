-- Why an offer does not count stands in one place: the first reason that holds. The order is from what it is, over who
-- sells it, to what it costs, so the reason is the one that a buyer would name.
WITH setting AS (
    SELECT
        max(value) FILTER (setting = 'street_price_max_msrp_ratio')::DOUBLE AS max_msrp_ratio,
        max(value) FILTER (setting = 'street_price_min_msrp_ratio')::DOUBLE AS min_msrp_ratio,
        max(value) FILTER (setting = 'marketplace_sellers') AS marketplace_sellers
    FROM core.setting
),
priced AS (
    SELECT
        l.listing_id, l.gpu_id, l.gpu_count, l.source, l.title, l.url, l.condition, l.seller, l.seller_kind,
        s.price, s.currency, s.price_kind, s.list_price, s.availability, s.valid_from, s.confirmed_until,
        s.snapshot_sha256,
        (s.price::DOUBLE * fx.usd_rate)::DECIMAL(18, 2) AS price_usd,
        CASE WHEN s.currency <> 'USD' THEN fx.fx_day END AS fx_day,
        g.msrp_usd
    FROM core.listing l
    JOIN core.price_span s ON s.listing_id = l.listing_id AND s.valid_to IS NULL
    LEFT JOIN core.fx_usd fx ON fx.currency = s.currency
    LEFT JOIN core.gpu g ON g.gpu_id = l.gpu_id
    WHERE l.match_status = 'matched' AND l.ended_at IS NULL
)
SELECT
    p.*,
    CASE
        WHEN p.gpu_count <> 1 THEN 'several GPUs in one product'
        WHEN p.condition = 'unknown' THEN 'condition not stated'
        WHEN NOT coalesce(f.is_usable, false) THEN 'source too old'
        WHEN p.availability <> 'in_stock' THEN replace(p.availability, '_', ' ')
        WHEN p.seller_kind = 'marketplace' AND NOT list_contains(string_split(setting.marketplace_sellers, '|'), p.seller)
            THEN 'marketplace seller'
        WHEN h.listing_id IS NOT NULL THEN 'price held'
        WHEN p.confirmed_until IS NOT NULL THEN 'not seen in the newest batch'
        WHEN p.price IS NULL THEN 'no price'
        WHEN p.price_kind <> 'now' THEN p.price_kind || ' price'
        WHEN p.price_usd IS NULL THEN 'no exchange rate'
        WHEN p.price_usd > p.msrp_usd * setting.max_msrp_ratio THEN 'far above launch price'
        WHEN p.price_usd < p.msrp_usd * setting.min_msrp_ratio AND p.condition = 'new' THEN 'far below launch price'
    END AS exclusion
FROM priced p
CROSS JOIN setting
LEFT JOIN core.source_freshness f ON f.source = p.source
LEFT JOIN core.held_price h ON h.listing_id = p.listing_id
