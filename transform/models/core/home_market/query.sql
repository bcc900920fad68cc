-- The market in the settings counts. If none is set, it is the United States, or the market with most listings if there was never
-- an offer in the United States.
SELECT coalesce(
    (SELECT max(value) FROM core.setting WHERE setting = 'market' AND value <> ''),
    (
        SELECT arg_min(market, (market <> 'us', -listings, market))
        FROM (SELECT market, count(*) AS listings FROM core.listing WHERE market IS NOT NULL GROUP BY market)
    ),
    'us'
) AS market
