WITH counted AS MATERIALIZED (
    FROM counted_offer_as_of(as_of_day, in_market := in_market)
),
spread AS (
    SELECT gpu_id, count(*) AS offers, median(price_usd)::DECIMAL(18, 2) AS median_usd,
        min({'usd': price_usd, 'since': valid_from}) AS lowest
    FROM counted GROUP BY gpu_id
)
-- Of several at the lowest price since the same night, the first by its id: tests/flows/test_nights.py holds it
-- equal to core.best_offer.
SELECT b.gpu_id, b.price_usd, b.price, b.currency, b.fx_day, m.offers, m.median_usd, b.source, l.listing_id, b.title, b.url,
    b.valid_from AS price_since, b.snapshot_sha256, b.market, b.offered_in, b.channel, b.tax_included, b.tax_rate, b.net_usd, b.is_net,
    b.last_seen_at
FROM counted b
JOIN spread m ON m.gpu_id = b.gpu_id AND m.lowest.usd = b.price_usd AND m.lowest.since = b.valid_from
JOIN core.listing l ON l.listing_no = b.listing_no
QUALIFY row_number() OVER (PARTITION BY b.gpu_id ORDER BY l.listing_id) = 1
