-- The prices that stood on days from `$since` to `$until`, each with the first and the last of them and with its listing's names.
-- A table of its own: DuckDB 2.0 fails on large tables where a text from a join is unnested and joined again ("global dictionary
-- column changed identity"), and what a temporary table holds is no longer from a join.
WITH renamed AS (
    SELECT DISTINCT h.listing_no FROM core.listing_history h JOIN core.listing l ON l.listing_no = h.listing_no
    WHERE h.title <> l.title
)
SELECT
    s.listing_no, s.price, s.currency, s.price_kind, s.availability, s.condition, s.seller, s.seller_kind, s.confirmed_until,
    l.source, l.title, l.gpu_id, l.gpu_count, l.match_status, coalesce(l.market, home.market) AS market, l.channel, l.tax_included,
    r.listing_no IS NOT NULL AS is_renamed, coalesce(st.freshness_hours, 0) AS fresh_hours,
    greatest((s.valid_from AT TIME ZONE 'UTC')::DATE, $since) AS first_day,
    least(
        (coalesce(s.confirmed_until + to_hours(fresh_hours), st.last_success_at, s.valid_from) AT TIME ZONE 'UTC')::DATE,
        -- What still stood at the end of the day: of two states on one day that is the later one.
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
