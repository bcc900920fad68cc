-- The market in the settings counts. If none is set, it is the United States, or the market with most listings if there was never
-- an offer in the United States.
SELECT coalesce(
    (SELECT max(value) FROM core.setting WHERE setting = 'market' AND value <> ''),
    (
        SELECT market FROM core.listing WHERE market IS NOT NULL GROUP BY market
        ORDER BY market <> 'us', count(*) DESC, market LIMIT 1
    ),
    'us'
) AS market
