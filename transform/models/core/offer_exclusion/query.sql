-- The reason why an offer does not count: the first one that applies. Reasons about the product come first, then reasons about the
-- seller, then reasons about the price, so the result is the reason that a buyer would name.
CASE
    WHEN gpus <> 1 THEN 'several GPUs in one product'
    WHEN item_condition = 'unknown' THEN 'condition not stated'
    WHEN NOT coalesce(usable, false) THEN 'source too old'
    WHEN stock NOT IN ('in_stock', 'quoted') THEN replace(stock, '_', ' ')
    -- If an offer names a seller that is not known to be the shop, it counts as another seller until a person says otherwise.
    -- Vendors who send us quotes are known.
    WHEN kind_of_seller NOT IN ('first_party', 'quote') AND (kind_of_seller = 'marketplace' OR seller_name IS NOT NULL)
        AND NOT coalesce(list_contains(string_split((
            SELECT max(value) FROM core.setting WHERE setting = 'marketplace_sellers'
        ), '|'), seller_name), false)
        THEN CASE kind_of_seller WHEN 'marketplace' THEN 'marketplace seller' ELSE 'seller not known' END
    WHEN sales_channel = 'grey_import' THEN 'grey import'
    WHEN held THEN 'price held'
    WHEN NOT confirmed THEN 'not confirmed'
    WHEN amount IS NULL THEN 'no price'
    WHEN kind_of_price <> 'now' THEN kind_of_price || ' price'
    WHEN usd IS NULL THEN 'no exchange rate'
    -- The bounds of the contract of mart.gpu_price: a price that the contract refuses must never be the price of a card.
    WHEN usd NOT BETWEEN 2 AND 100000 THEN 'beyond what a card costs'
    WHEN usd > launch_usd * (
        SELECT max(value)::DOUBLE FROM core.setting WHERE setting = 'street_price_max_msrp_ratio'
    ) THEN 'far above launch price'
    WHEN item_condition = 'new' AND usd < launch_usd * (
        SELECT max(value)::DOUBLE FROM core.setting WHERE setting = 'street_price_min_msrp_ratio'
    ) THEN 'far below launch price'
END
