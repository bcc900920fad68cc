SELECT p.market, m.market_name, m.tax_name, m.tax_rate, m.prices_include_tax, count(*) AS cards
FROM mart.market_price p LEFT JOIN core.market m ON m.market = p.market
WHERE p.price_usd IS NOT NULL
GROUP BY p.market, m.market_name, m.tax_name, m.tax_rate, m.prices_include_tax
ORDER BY p.market = 'all', p.market
