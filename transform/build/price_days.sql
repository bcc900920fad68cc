-- The daily prices of the days from `$since` to `$until`. Only days on which the source was read have prices: a price before and
-- after an outage is not a price of the days between. The rule for the street price decides which prices count: a price that a
-- short crawl did not show counts while it is fresh. With `$is_net` they are those of a home market of several countries, net of
-- tax as in core.market_offer.
WITH renamed AS (
    SELECT DISTINCT h.listing_no FROM core.listing_history h JOIN core.listing l ON l.listing_no = h.listing_no
    WHERE h.title <> l.title
),
-- The prices that were valid on these days, each with its first and last day and the names of its listing. The result must be
-- MATERIALIZED: DuckDB 2.0 fails on large tables if a text from a join is unnested and joined again ("global dictionary column
-- changed identity"). It is not a temporary table, because a transaction frees the space of such tables only at its end: with a
-- hundred million prices, the tables of all parts would take 30 GB.
standing_price AS MATERIALIZED (
    SELECT
        s.listing_no, s.price, s.currency, s.price_kind, s.availability, s.condition, s.seller, s.seller_kind, s.confirmed_until,
        l.source, l.title, l.gpu_id, l.gpu_count, l.match_status, coalesce(l.market, home.market) AS market, l.channel, l.tax_included,
        r.listing_no IS NOT NULL AS is_renamed, coalesce(st.freshness_hours, 0) AS fresh_hours,
        greatest((s.valid_from AT TIME ZONE 'UTC')::DATE, $since) AS first_day,
        least(
            (coalesce(s.confirmed_until + to_hours(fresh_hours), st.last_success_at, s.valid_from) AT TIME ZONE 'UTC')::DATE,
            -- The price at the end of a day counts: of two states on one day that is the later one.
            (s.valid_to AT TIME ZONE 'UTC')::DATE - 1,
            $until
        ) AS last_day
    FROM core.price_span s
    JOIN core.listing l ON l.listing_no = s.listing_no
    CROSS JOIN core.home_market home
    LEFT JOIN ops.source_state st ON st.source = l.source
    LEFT JOIN renamed r ON r.listing_no = s.listing_no
    WHERE (l.match_status = 'matched' OR r.listing_no IS NOT NULL)
        AND s.condition = 'new' AND s.price IS NOT NULL AND (s.confirmed_until IS NULL OR s.confirmed_until >= s.valid_from)
        AND (s.valid_to IS NULL OR s.valid_to >= $since::TIMESTAMP AT TIME ZONE 'UTC')
        AND s.valid_from < ($until + 1)::TIMESTAMP AT TIME ZONE 'UTC'
),
night AS (
    SELECT DISTINCT source, (seen_at AT TIME ZONE 'UTC')::DATE AS day,
        max(seen_at) OVER (PARTITION BY (seen_at AT TIME ZONE 'UTC')::DATE) AS newest_at
    FROM core.source_night
    WHERE seen_at >= $since::TIMESTAMP AT TIME ZONE 'UTC' AND seen_at < ($until + 1)::TIMESTAMP AT TIME ZONE 'UTC'
),
-- If a shop changes the title of a listing, it sells another product from then on. A title that did not change means the card to
-- which it is resolved now. Few listings ever had another title, and only their days are joined with their versions.
shown AS (
    SELECT * EXCLUDE (first_day, last_day, title), unnest(generate_series(first_day, last_day, INTERVAL 1 DAY))::DATE AS day
    FROM standing_price WHERE NOT is_renamed
    UNION ALL
    SELECT
        s.* EXCLUDE (title, midnight) REPLACE (
            if(h.title <> s.title, h.gpu_id, s.gpu_id) AS gpu_id,
            if(h.title <> s.title, h.gpu_count, s.gpu_count) AS gpu_count,
            if(h.title <> s.title, h.match_status, s.match_status) AS match_status
        )
    FROM (
        SELECT *, (day + 1)::TIMESTAMP AT TIME ZONE 'UTC' AS midnight
        FROM (
            SELECT * EXCLUDE (first_day, last_day), unnest(generate_series(first_day, last_day, INTERVAL 1 DAY))::DATE AS day
            FROM standing_price WHERE is_renamed
        )
    ) s
    ASOF LEFT JOIN core.listing_history h ON h.listing_no = s.listing_no AND h.valid_from < s.midnight
),
rate AS (
    SELECT k.currency, k.day, core.usd_rate_on(k.currency, r.usd_rate, r.fx_day, k.day) AS usd_rate
    FROM (
        SELECT currency, unnest(generate_series($since, $until, INTERVAL 1 DAY))::DATE AS day
        FROM (SELECT DISTINCT currency FROM standing_price)
    ) k
    ASOF LEFT JOIN core.fx_usd_daily r ON r.currency = k.currency AND k.day >= r.fx_day
),
priced AS (
    SELECT s.* REPLACE (if($is_net, home.market, s.market) AS market), (
        s.price::DOUBLE * r.usd_rate * CASE
            WHEN $is_net THEN core.net_factor(s.tax_included, m.prices_include_tax, t.tax_rate, s.seller_kind)
            ELSE core.shelf_factor(s.tax_included, m.prices_include_tax, t.tax_rate)
        END
    )::DECIMAL(18, 2) AS price_usd
    FROM shown s
    CROSS JOIN core.home_market home
    JOIN night n ON n.source = s.source AND n.day = s.day
        AND (s.confirmed_until IS NULL OR core.is_fresh(s.confirmed_until, n.newest_at, s.fresh_hours))
    LEFT JOIN core.market m ON m.market = s.market
    LEFT JOIN core.tax_rate t ON t.market = s.market AND s.day >= t.taxed_from
        AND (t.taxed_until IS NULL OR s.day < t.taxed_until)
    LEFT JOIN rate r ON r.currency = s.currency AND r.day = s.day
    WHERE s.match_status = 'matched' AND CASE
        WHEN $is_net THEN home.market IN ('all', s.market, m.market_region) AND price_usd IS NOT NULL
        ELSE s.market NOT IN ('eu', 'all') OR s.market <> home.market
    END
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
    -- price_days_suspect.sql sets this later, because it depends on neighbouring days, which may come later.
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
