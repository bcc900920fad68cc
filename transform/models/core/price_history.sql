-- An open row is confirmed by every good batch of its source, so its last sighting is the source's, not a column that
-- would have to be rewritten for every listing on every night.
SELECT
    s.listing_id,
    l.source,
    l.gpu_id,
    s.price,
    s.currency,
    s.price_kind,
    s.price_text,
    s.list_price,
    s.availability,
    s.price_usd,
    s.fx_day,
    s.valid_from,
    s.valid_to,
    coalesce(s.confirmed_until, st.last_success_at, s.valid_from) AS last_seen_at,
    s.snapshot_sha256,
    s.loaded_at
FROM core.price_span s
JOIN core.listing l ON l.listing_id = s.listing_id
LEFT JOIN ops.source_state st ON st.source = l.source
