-- Only days on which the source was read: a price that stood before and after an outage is no price of the days between. The
-- same rule as for the street price decides what counts: what a short crawl did not show counts while it is fresh. Of the days
-- from `$since` to `$until`.
WITH night AS (
    SELECT DISTINCT source, (seen_at AT TIME ZONE 'UTC')::DATE AS day,
        max(seen_at) OVER (PARTITION BY (seen_at AT TIME ZONE 'UTC')::DATE) AS newest_at
    FROM core.source_night
    WHERE seen_at >= $since::TIMESTAMP AT TIME ZONE 'UTC' AND seen_at < ($until + 1)::TIMESTAMP AT TIME ZONE 'UTC'
),
span_day AS (
    SELECT
        s.listing_no, s.price, s.currency, s.price_kind, s.availability, s.condition, s.seller, s.seller_kind,
        s.confirmed_until, coalesce(st.freshness_hours, 0) AS fresh_hours,
        unnest(generate_series(
            greatest((s.valid_from AT TIME ZONE 'UTC')::DATE, $since),
            least(
                (coalesce(s.confirmed_until + to_hours(fresh_hours), st.last_success_at, s.valid_from)
                    AT TIME ZONE 'UTC')::DATE,
                -- What still stood at the end of the day: of two states on one day that is the later one.
                (s.valid_to AT TIME ZONE 'UTC')::DATE - 1,
                $until
            ),
            INTERVAL 1 DAY
        ))::DATE AS day
    FROM core.price_span s
    JOIN core.listing l ON l.listing_no = s.listing_no
    LEFT JOIN ops.source_state st ON st.source = l.source
    WHERE s.condition = 'new' AND s.price IS NOT NULL AND (s.confirmed_until IS NULL OR s.confirmed_until >= s.valid_from)
        AND (s.valid_to IS NULL OR s.valid_to >= $since::TIMESTAMP AT TIME ZONE 'UTC')
        AND s.valid_from < ($until + 1)::TIMESTAMP AT TIME ZONE 'UTC'
),
closing AS (
    -- The names come after the days: DuckDB 2.0 fails on large tables where a text from a join is unnested and joined again.
    SELECT l.source, l.title, l.gpu_id, l.gpu_count, l.match_status,
        coalesce(l.market, home.market) AS market, l.channel, l.tax_included, d.*,
        (d.day + 1)::TIMESTAMP AT TIME ZONE 'UTC' AS midnight
    FROM span_day d
    CROSS JOIN core.home_market home
    JOIN core.listing l ON l.listing_no = d.listing_no
),
-- A shop that gives a listing another title sells another product from then on; the same title is read as it is read now.
identified AS (
    SELECT
        c.* REPLACE (
            if(h.title <> c.title, h.gpu_id, c.gpu_id) AS gpu_id,
            if(h.title <> c.title, h.gpu_count, c.gpu_count) AS gpu_count,
            if(h.title <> c.title, h.match_status, c.match_status) AS match_status
        )
    FROM closing c
    JOIN night n ON n.source = c.source AND n.day = c.day
        AND (c.confirmed_until IS NULL OR date_diff('minute', c.confirmed_until, n.newest_at) <= c.fresh_hours * 60)
    ASOF LEFT JOIN core.listing_history h ON h.listing_no = c.listing_no AND h.valid_from < c.midnight
),
priced AS (
    SELECT c.*, (
        c.price::DOUBLE * core.usd_rate_on(c.currency, r.usd_rate, r.fx_day, c.day)
        * core.shelf_factor(c.tax_included, m.prices_include_tax, t.tax_rate)
    )::DECIMAL(18, 2) AS price_usd
    FROM identified c
    LEFT JOIN core.market m ON m.market = c.market
    LEFT JOIN core.tax_rate t ON t.market = c.market AND c.day >= t.taxed_from
        AND (t.taxed_until IS NULL OR c.day < t.taxed_until)
    ASOF LEFT JOIN core.fx_usd_daily r ON r.currency = c.currency AND c.day >= r.fx_day
    WHERE c.match_status = 'matched'
)
SELECT
    p.gpu_id,
    p.day,
    min(p.price_usd) AS low_usd,
    median(p.price_usd)::DECIMAL(18, 2) AS median_usd,
    max(p.price_usd) AS high_usd,
    count(*) AS listings,
    min(p.price_usd, 2)[2] AS second_low_usd,
    max(p.price_usd, 2)[2] AS second_high_usd,
    -- Its neighbours decide, which may come later: see price_days_suspect.sql.
    false AS suspect,
    p.market
FROM priced p
LEFT JOIN core.gpu g ON g.gpu_id = p.gpu_id
WHERE core.offer_exclusion(
    p.gpu_count, p.condition, true, p.availability, p.seller_kind, p.seller, false, true, p.price, p.price_kind, p.price_usd,
    g.msrp_usd, p.channel
) IS NULL
GROUP BY p.gpu_id, p.market, p.day
ORDER BY p.gpu_id, p.market, p.day
