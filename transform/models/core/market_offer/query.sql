-- A table is of one market. A region and `all` have several markets with different taxes, so their prices are net, and offers that
-- do not say whether tax is included are left out. Offers without a known market count in the home market.
WITH placed AS (
    SELECT
        CASE t.table_of WHEN 'country' THEN coalesce(o.market, home.market) WHEN 'region' THEN o.market_region ELSE 'all' END
            AS in_market,
        o.*
    FROM core.offer o
    CROSS JOIN core.home_market home
    CROSS JOIN (VALUES ('country'), ('region'), ('all')) t(table_of)
    WHERE t.table_of <> 'region' OR o.market_region IS NOT NULL
)
SELECT
    p.in_market,
    p.in_market IN ('eu', 'all') AS is_net,
    p.* EXCLUDE (in_market, price_usd, exclusion),
    CASE WHEN is_net THEN p.net_usd ELSE p.price_usd END AS price_usd,
    coalesce(p.exclusion, CASE WHEN is_net AND p.net_usd IS NULL THEN 'tax not stated' END) AS exclusion
FROM placed p
