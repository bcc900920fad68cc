-- What is set counts. Where nothing is, the United States, and where nothing was ever seen there, the market with most listings.
WITH chosen AS (
    SELECT max(value) AS market FROM core.setting WHERE setting = 'market' AND value <> ''
),
listed AS (
    SELECT market, count(*) AS listings FROM core.listing WHERE market IS NOT NULL GROUP BY market
)
SELECT coalesce(
    (SELECT market FROM chosen),
    (SELECT market FROM listed WHERE market = 'us'),
    (SELECT market FROM listed ORDER BY listings DESC, market LIMIT 1),
    'us'
) AS market
