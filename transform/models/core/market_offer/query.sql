-- One table is of one market. A region and `all` hold several, whose taxes differ, so there every price is net of tax; an offer that
-- does not say whether tax is in its price is left out there. An offer of no known market stands in the home market.
WITH placed AS (
    SELECT coalesce(o.market, home.market) AS in_market, o.* FROM core.offer o CROSS JOIN core.home_market home
    UNION ALL
    SELECT o.market_region, o.* FROM core.offer o WHERE o.market_region IS NOT NULL
    UNION ALL
    SELECT 'all', o.* FROM core.offer o
)
SELECT
    p.in_market,
    p.in_market IN ('eu', 'all') AS is_net,
    p.* EXCLUDE (in_market, price_usd, exclusion),
    CASE WHEN is_net THEN p.net_usd ELSE p.price_usd END AS price_usd,
    coalesce(p.exclusion, CASE WHEN is_net AND p.net_usd IS NULL THEN 'tax not stated' END) AS exclusion
FROM placed p
