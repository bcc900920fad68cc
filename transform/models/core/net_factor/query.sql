-- If a shop does not say whether tax is included, its prices are like others of its market. If a vendor's quote does not say it,
-- both are possible.
CASE coalesce(stated, CASE WHEN kind_of_seller IS DISTINCT FROM 'quote' THEN by_custom END)
    WHEN true THEN 1 / (1 + rate::DOUBLE)
    WHEN false THEN 1
END
