-- Of equal prices, the listing that has been there longest comes first, then the smaller id, so that two runs choose the same.
FROM core.market_offer WHERE exclusion IS NULL
QUALIFY row_number() OVER (
    PARTITION BY in_market, gpu_id, condition = 'new' ORDER BY price_usd, valid_from, listing_id
) = 1
