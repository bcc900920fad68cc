-- Materialized: where a UNION ALL feeds a join directly, DuckDB 2.0 fails on larger tables ("global dictionary column changed
-- identity"). Filters and the choice of columns still reach both tables.
WITH versions AS MATERIALIZED (
    SELECT
        l.listing_id, l.listing_no, l.source, o.price, o.currency, o.price_kind, o.price_text, o.list_price, o.availability,
        o.condition, o.seller, o.seller_kind, o.valid_from, NULL::TIMESTAMPTZ AS valid_to, o.confirmed_until, o.snapshot_sha256
    FROM core.price_open o
    JOIN core.listing l ON l.listing_id = o.listing_id
    UNION ALL
    SELECT
        l.listing_id, l.listing_no, l.source, c.price, c.currency, c.price_kind, c.price_text, c.list_price, c.availability,
        c.condition, c.seller, c.seller_kind, c.valid_from, c.valid_to, c.confirmed_until, c.snapshot_sha256
    FROM core.price_closed c
    JOIN core.listing l ON l.listing_no = c.listing_no
)
FROM versions
