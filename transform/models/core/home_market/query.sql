-- What is set counts. Where nothing is, the United States, and where nothing was ever seen there, the market with most listings.
SELECT coalesce(
    (SELECT max(value) FROM core.setting WHERE setting = 'market' AND value <> ''),
    (
        SELECT market FROM core.listing WHERE market IS NOT NULL GROUP BY market
        ORDER BY market <> 'us', count(*) DESC, market LIMIT 1
    ),
    'us'
) AS market
