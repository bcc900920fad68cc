-- Prices refer to their listing by number, and leave out columns that follow from others. Open prices have a table of their
-- own, so that a night reads and writes only that table, however long the history is.
CREATE OR REPLACE TABLE core.listing AS
    SELECT * EXCLUDE (rn), rn::UINTEGER AS listing_no
    FROM (SELECT *, row_number() OVER (ORDER BY first_seen_at, listing_id) AS rn FROM core.listing) ORDER BY rn;
CREATE TABLE core.price_open AS SELECT * EXCLUDE (valid_to, price_usd, fx_day, loaded_at) FROM core.price_span WHERE valid_to IS NULL;
CREATE OR REPLACE TABLE core.price_span AS
    SELECT l.listing_no, s.* EXCLUDE (listing_id, price_usd, fx_day, loaded_at)
    FROM core.price_span s JOIN core.listing l USING (listing_id) ORDER BY s.valid_to, l.listing_no;
CREATE TABLE core.listing_history AS
    SELECT listing_no, title, url, gpu_id, gpu_count, match_status, first_seen_at AS valid_from, NULL::TIMESTAMPTZ AS valid_to
    FROM core.listing;
