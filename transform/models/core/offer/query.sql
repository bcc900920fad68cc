WITH priced AS (
    SELECT
        l.listing_id, l.gpu_id, l.gpu_count, l.source, l.title, l.url, s.condition, s.seller, s.seller_kind,
        s.price, s.currency, s.price_kind, s.list_price, s.availability, s.valid_from, s.confirmed_until,
        s.snapshot_sha256, l.market, coalesce(l.channel, 'official') AS channel, l.shipping,
        coalesce(l.tax_included, CASE WHEN s.seller_kind IS DISTINCT FROM 'quote' THEN m.prices_include_tax END) AS tax_included,
        m.tax_rate, m.market_region,
        s.price::DOUBLE * fx.usd_rate AS printed_usd,
        (printed_usd * core.shelf_factor(l.tax_included, m.prices_include_tax, m.tax_rate))::DECIMAL(18, 2) AS price_usd,
        (
            printed_usd * core.net_factor(l.tax_included, m.prices_include_tax, m.tax_rate, s.seller_kind)
        )::DECIMAL(18, 2) AS net_usd,
        CASE WHEN s.currency <> 'USD' THEN fx.fx_day END AS fx_day,
        g.msrp_usd
    FROM core.listing l
    JOIN core.price_open s ON s.listing_id = l.listing_id
    LEFT JOIN core.market m ON m.market = l.market
    LEFT JOIN core.fx_usd fx ON fx.currency = s.currency
    LEFT JOIN core.gpu g ON g.gpu_id = l.gpu_id
    WHERE l.match_status = 'matched' AND l.ended_at IS NULL
)
SELECT
    p.* EXCLUDE (printed_usd),
    coalesce(core.offer_exclusion(
        p.gpu_count, p.condition, true, p.availability, p.seller_kind, p.seller, h.listing_id IS NOT NULL,
        p.confirmed_until IS NULL OR p.confirmed_until >= p.valid_from, p.price, p.price_kind, p.price_usd, p.msrp_usd, p.channel
    ), CASE WHEN n.gpu_id IS NOT NULL THEN 'suspect price' END,
    -- Last, so that such an offer is one that would count if its source were fresh.
    CASE WHEN NOT coalesce(f.is_usable, false) OR a.listing_id IS NOT NULL THEN 'source too old' END) AS exclusion
FROM priced p
LEFT JOIN core.source_freshness f ON f.source = p.source
LEFT JOIN core.held_price h ON h.listing_id = p.listing_id
LEFT JOIN core.aged_out a ON a.listing_id = p.listing_id
CROSS JOIN core.home_market home
LEFT JOIN core.suspect_price n ON n.gpu_id = p.gpu_id AND n.market = coalesce(p.market, home.market)
    AND p.condition = 'new' AND p.price_usd NOT BETWEEN n.least_usd AND n.most_usd
