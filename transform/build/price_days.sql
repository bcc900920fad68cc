-- Only days on which the source was read: a price that stood before and after an outage is no price of the days between. The
-- same rule as for the street price decides what counts. Of the days from `$since` to `$until`.
WITH night AS (
    SELECT DISTINCT source, (seen_at AT TIME ZONE 'UTC')::DATE AS day FROM core.source_night
    WHERE seen_at >= $since::TIMESTAMP AT TIME ZONE 'UTC' AND seen_at < ($until + 1)::TIMESTAMP AT TIME ZONE 'UTC'
),
span_day AS (
    SELECT
        s.listing_no, s.price, s.currency, s.price_kind, s.availability, s.condition, s.seller, s.seller_kind, s.valid_from,
        unnest(generate_series(
            greatest((s.valid_from AT TIME ZONE 'UTC')::DATE, $since),
            least((coalesce(s.confirmed_until, st.last_success_at, s.valid_from) AT TIME ZONE 'UTC')::DATE, $until),
            INTERVAL 1 DAY
        ))::DATE AS day
    FROM core.price_span s
    JOIN core.listing l ON l.listing_no = s.listing_no
    LEFT JOIN ops.source_state st ON st.source = l.source
    WHERE l.match_status = 'matched' AND s.condition = 'new' AND s.price IS NOT NULL
        AND (s.valid_to IS NULL OR s.valid_to >= $since::TIMESTAMP AT TIME ZONE 'UTC')
        AND s.valid_from < ($until + 1)::TIMESTAMP AT TIME ZONE 'UTC'
),
-- Two states of one listing on one day: the later one is that day's price.
closing AS (
    -- The names come after the days: DuckDB 2.0 fails on large tables where a text from a join is unnested and joined again.
    SELECT l.gpu_id, l.gpu_count, d.* FROM span_day d
    JOIN core.listing l ON l.listing_no = d.listing_no
    SEMI JOIN night n ON n.source = l.source AND n.day = d.day
    QUALIFY row_number() OVER (PARTITION BY d.listing_no, d.day ORDER BY d.valid_from DESC) = 1
),
priced AS (
    SELECT c.*, (c.price::DOUBLE * core.usd_rate_on(c.currency, r.usd_rate, r.fx_day, c.day))::DECIMAL(18, 2) AS price_usd
    FROM closing c ASOF LEFT JOIN core.fx_usd_daily r ON r.currency = c.currency AND c.day >= r.fx_day
)
SELECT
    p.gpu_id,
    p.day,
    min(p.price_usd) AS low_usd,
    median(p.price_usd)::DECIMAL(18, 2) AS median_usd,
    max(p.price_usd) AS high_usd,
    count(*) AS listings
FROM priced p
LEFT JOIN core.gpu g ON g.gpu_id = p.gpu_id
WHERE core.offer_exclusion(
    p.gpu_count, p.condition, true, p.availability, p.seller_kind, p.seller, false, true, p.price, p.price_kind, p.price_usd,
    g.msrp_usd
) IS NULL
GROUP BY p.gpu_id, p.day
ORDER BY p.gpu_id, p.day
