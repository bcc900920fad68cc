-- Equal prices: the listing that has stood longest, then its id, so that two runs choose the same.
FROM core.market_offer WHERE exclusion IS NULL
QUALIFY row_number() OVER (
    PARTITION BY in_market, gpu_id, condition = 'new' ORDER BY price_usd, valid_from, listing_id
) = 1
