-- Every good batch of a source confirms the open rows, so their last sighting is the last good batch of the source. A column for it
-- would have to be rewritten for every listing on every night.
SELECT
    l.listing_id,
    l.source,
    l.gpu_id,
    s.price,
    s.currency,
    s.price_kind,
    s.price_text,
    s.list_price,
    s.availability,
    (
        s.price::DOUBLE * core.usd_rate_on(s.currency, r.usd_rate, r.fx_day, (s.valid_from AT TIME ZONE 'UTC')::DATE)
    )::DECIMAL(18, 2) AS price_usd,
    CASE WHEN price_usd IS NOT NULL THEN r.fx_day END AS fx_day,
    s.valid_from,
    s.valid_to,
    core.last_seen_at(s.confirmed_until, st.last_success_at, s.valid_from) AS last_seen_at,
    s.snapshot_sha256
FROM core.price_span s
JOIN core.listing l ON l.listing_no = s.listing_no
LEFT JOIN ops.source_state st ON st.source = l.source
ASOF LEFT JOIN core.fx_usd_daily r ON r.currency = s.currency AND (s.valid_from AT TIME ZONE 'UTC')::DATE >= r.fx_day
