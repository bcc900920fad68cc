-- The price of a product that holds cards is not the price of a card. It is compared as a whole machine or lot, never in
-- mart.gpu_price. Products without cards, such as an empty enclosure, are not here.
WITH priced AS (
    SELECT
        l.listing_id, l.product_kind, l.contained_gpu_id AS gpu_id, l.gpu_count, l.contents, l.source, l.title, l.url,
        s.condition, s.seller, s.seller_kind, s.price, s.currency, s.price_kind, s.availability, s.valid_from,
        s.confirmed_until, s.snapshot_sha256,
        coalesce(l.market, home.market) AS market, coalesce(l.channel, 'official') AS channel,
        s.price::DOUBLE * fx.usd_rate AS printed_usd,
        (printed_usd * core.shelf_factor(l.tax_included, m.prices_include_tax, m.tax_rate))::DECIMAL(18, 2) AS price_usd,
        (
            printed_usd * core.net_factor(l.tax_included, m.prices_include_tax, m.tax_rate, s.seller_kind)
        )::DECIMAL(18, 2) AS net_usd, m.market_region,
        CASE WHEN s.currency <> 'USD' THEN fx.fx_day END AS fx_day
    FROM core.listing l
    JOIN core.price_open s ON s.listing_id = l.listing_id
    CROSS JOIN core.home_market home
    LEFT JOIN core.market m ON m.market = l.market
    LEFT JOIN core.fx_usd fx ON fx.currency = s.currency
    WHERE l.ended_at IS NULL AND coalesce(l.gpu_count, 1) > 0
        AND l.product_kind IN ('server', 'workstation', 'computer', 'laptop', 'egpu', 'kit', 'lot')
)
SELECT
    p.listing_id,
    p.product_kind,
    p.gpu_id,
    g.gpu,
    p.gpu_count,
    -- `gpu_count` counts the GPUs of superchips, which have two on a board. For other boards with several GPUs it counts boards.
    (p.gpu_count * CASE WHEN g.form_factor = 'SXM' THEN 1 ELSE coalesce(g.gpus_on_board, 1) END)::INTEGER AS gpus,
    p.contents,
    p.condition,
    p.price_usd,
    p.price,
    p.currency,
    p.fx_day,
    p.net_usd,
    p.market,
    p.market_region,
    p.channel,
    p.source,
    p.seller,
    p.title,
    p.url,
    p.valid_from AS price_since,
    core.last_seen_at(p.confirmed_until, st.last_success_at, p.valid_from) AS last_seen_at,
    p.snapshot_sha256,
    coalesce(
        CASE
            WHEN p.gpu_id IS NULL THEN 'GPU not certain'
            WHEN p.gpu_count IS NULL THEN 'number of GPUs not stated'
            -- A card with a mainboard, a console or a gift is no machine, and its price not that of the card.
            WHEN p.product_kind = 'kit' AND p.gpu_count = 1 THEN 'a card with other goods, no machine'
        END,
        core.offer_exclusion(
            1, p.condition, true, p.availability, p.seller_kind, p.seller, h.listing_id IS NOT NULL,
            p.confirmed_until IS NULL OR p.confirmed_until >= p.valid_from, p.price, CASE p.price_kind WHEN 'bundle' THEN 'now' ELSE p.price_kind END,
            -- The bounds for one card. The highest price of a machine is checked below.
            least(p.price_usd / greatest(p.gpu_count, 1), 100000), NULL, p.channel
        ),
        -- A rack of 72 GPUs was quoted at 50,000 dollars for each GPU; ten times as much must be a mistake. The lowest price of a
        -- new product follows from its cards, but the highest does not.
        CASE
            WHEN p.price_usd > 500000 * gpus THEN 'far above any price'
            WHEN p.condition = 'new' AND p.price_usd < gpus * g.msrp_usd / coalesce(g.gpus_on_board, 1) * (
                SELECT max(value)::DOUBLE FROM core.setting WHERE setting = 'street_price_min_msrp_ratio'
            ) THEN 'far below launch price'
        END,
        CASE WHEN NOT coalesce(f.is_usable, false) OR a.listing_id IS NOT NULL THEN 'source too old' END
    ) AS exclusion
FROM priced p
LEFT JOIN core.gpu g ON g.gpu_id = p.gpu_id
LEFT JOIN core.source_freshness f ON f.source = p.source
LEFT JOIN core.held_price h ON h.listing_id = p.listing_id
LEFT JOIN core.aged_out a ON a.listing_id = p.listing_id
LEFT JOIN ops.source_state st ON st.source = p.source
ORDER BY p.listing_id
