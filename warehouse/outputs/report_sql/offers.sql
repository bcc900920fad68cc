-- The offers that a median is over: what is left out is counted in left_out.sql.
SELECT
    gpu_id, price_usd, price, currency, source AS price_source, title, url AS price_url, valid_from AS price_since,
    snapshot_sha256 AS price_sha256, market
FROM core.market_offer
WHERE in_market = (SELECT market FROM core.home_market) AND exclusion IS NULL AND condition = 'new'
QUALIFY row_number() OVER (PARTITION BY gpu_id ORDER BY price_usd, valid_from, listing_id) <= $most
ORDER BY gpu_id, price_usd, valid_from, listing_id
