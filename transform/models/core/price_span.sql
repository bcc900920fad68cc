-- Materialized: where a UNION ALL feeds a join directly, DuckDB 2.0 fails on larger tables ("global dictionary column changed
-- identity"). Filters and the choice of columns still reach both tables.
WITH versions AS MATERIALIZED (
    SELECT
        listing_id, price, currency, price_kind, price_text, list_price, availability, condition, seller, seller_kind,
        valid_from, NULL::TIMESTAMPTZ AS valid_to, confirmed_until, snapshot_sha256
    FROM core.price_open
    UNION ALL
    SELECT
        l.listing_id, c.price, c.currency, c.price_kind, c.price_text, c.list_price, c.availability, c.condition, c.seller,
        c.seller_kind, c.valid_from, c.valid_to, c.confirmed_until, c.snapshot_sha256
    FROM core.price_closed c
    JOIN core.listing l ON l.listing_no = c.listing_no
)
FROM versions
