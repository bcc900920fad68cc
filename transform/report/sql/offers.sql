-- First the offers that count, by price, then the others with the reason why they do not.
-- left_out.sql counts the offers beyond $most.
SELECT
    o.in_market AS market, o.gpu_id, o.price_usd, o.price, o.currency, o.market AS offered_in, o.source AS shop, o.condition,
    o.availability, o.channel, o.exclusion, o.title, o.url, o.valid_from AS price_since,
    core.last_seen_at(o.confirmed_until, st.last_success_at, o.valid_from) AS confirmed_at, o.snapshot_sha256 AS evidence
FROM core.market_offer o
LEFT JOIN ops.source_state st ON st.source = o.source
WHERE o.in_market <> 'all' AND o.gpu_id IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY o.in_market, o.gpu_id
    ORDER BY o.exclusion IS NOT NULL, o.condition <> 'new', o.price_usd NULLS LAST, o.valid_from, o.listing_id
) <= $most
ORDER BY o.in_market, o.gpu_id, o.exclusion IS NOT NULL, o.condition <> 'new', o.price_usd NULLS LAST, o.valid_from, o.listing_id
