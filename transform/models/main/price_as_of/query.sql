-- Only what was known by the end of the day: versions that began after it, rates that were loaded after it and sightings
-- after it do not exist here, so the answer for a past day never changes.
WITH priced AS (
    SELECT
        h.gpu_id, h.gpu_count, s.condition, s.seller_kind, s.seller, l.source, h.title, h.url, s.listing_no, s.price, s.currency,
        s.price_kind, s.availability, s.valid_from, s.snapshot_sha256, d.fx_day,
        s.confirmed_until IS NULL OR s.confirmed_until >= s.valid_from AS is_confirmed,
        (s.price::DOUBLE * d.usd_rate)::DECIMAL(18, 2) AS price_usd
    FROM core.price_span s
    JOIN core.listing_history h ON h.listing_no = s.listing_no
    JOIN core.listing l ON l.listing_no = s.listing_no
    LEFT JOIN fx_usd_as_of(as_of_day) d ON d.currency = s.currency
    WHERE s.valid_from < core.end_of_day(as_of_day)
        AND (s.valid_to IS NULL OR s.valid_to >= core.end_of_day(as_of_day))
        AND h.valid_from < core.end_of_day(as_of_day)
        AND (h.valid_to IS NULL OR h.valid_to >= core.end_of_day(as_of_day))
        AND h.match_status = 'matched' AND s.condition = 'new'
),
counted AS MATERIALIZED (
    SELECT p.* FROM priced p
    LEFT JOIN source_freshness_as_of(as_of_day) f ON f.source = p.source
    LEFT JOIN core.gpu g ON g.gpu_id = p.gpu_id
    WHERE core.offer_exclusion(
        p.gpu_count, p.condition, f.is_usable, p.availability, p.seller_kind, p.seller, false, p.is_confirmed,
        p.price, p.price_kind, p.price_usd, g.msrp_usd
    ) IS NULL
),
market AS (
    SELECT gpu_id, count(*) AS offers, median(price_usd)::DECIMAL(18, 2) AS median_usd,
        min({'usd': price_usd, 'since': valid_from}) AS lowest
    FROM counted GROUP BY gpu_id
)
-- Of several at the lowest price since the same night, the first by its id: tests/flows/test_as_of.py holds it
-- equal to core.best_offer.
SELECT b.gpu_id, b.price_usd, b.price, b.currency, b.fx_day, m.offers, m.median_usd, b.source, l.listing_id, b.title, b.url,
    b.valid_from AS price_since, b.snapshot_sha256
FROM counted b
JOIN market m ON m.gpu_id = b.gpu_id AND m.lowest.usd = b.price_usd AND m.lowest.since = b.valid_from
JOIN core.listing l ON l.listing_no = b.listing_no
QUALIFY row_number() OVER (PARTITION BY b.gpu_id ORDER BY l.listing_id) = 1
