-- A table, so that a price of a machine that is not the lowest changes nothing that follows from this.
SELECT n.gpu_id, n.gpu, n.gpus, n.price_usd, (g.tdp_w * n.gpus / coalesce(g.gpus_on_board, 1))::INTEGER AS tdp_w,
    g.segment, g.form_factor, g.memory_type
FROM mart.node_offer n
JOIN core.gpu g ON g.gpu_id = n.gpu_id
JOIN core.home_market home ON home.market = n.market
WHERE n.exclusion IS NULL AND n.condition = 'new' AND n.product_kind IN ('server', 'workstation', 'computer', 'laptop')
    AND n.price_usd IS NOT NULL AND g.tdp_w IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY n.gpu_id, n.gpus ORDER BY n.price_usd, n.listing_id) = 1
ORDER BY n.gpu_id, n.gpus
