-- A view: the last day moves with the clock even where no price does.
WITH day_price AS (
    SELECT
        l.gpu_id,
        unnest(generate_series(
            (s.valid_from AT TIME ZONE 'UTC')::DATE,
            (coalesce(s.confirmed_until, st.last_success_at, s.valid_from) AT TIME ZONE 'UTC')::DATE,
            INTERVAL 1 DAY
        ))::DATE AS day,
        s.price_usd,
        s.listing_id,
        s.valid_from
    FROM core.price_span s
    JOIN core.listing l ON l.listing_id = s.listing_id
    LEFT JOIN ops.source_state st ON st.source = l.source
    WHERE l.match_status = 'matched' AND l.gpu_count = 1 AND l.condition = 'new' AND l.seller_kind <> 'marketplace'
        AND s.availability = 'in_stock' AND s.price_kind = 'now' AND s.price_usd IS NOT NULL
),
-- Two states of one listing on one day: the later one is that day's price.
closing AS (
    SELECT * FROM day_price QUALIFY row_number() OVER (PARTITION BY listing_id, day ORDER BY valid_from DESC) = 1
)
SELECT
    gpu_id,
    day,
    min(price_usd)::DECIMAL(18, 2) AS low_usd,
    median(price_usd)::DECIMAL(18, 2) AS median_usd,
    max(price_usd)::DECIMAL(18, 2) AS high_usd,
    count(*) AS listings
FROM closing
GROUP BY gpu_id, day
ORDER BY gpu_id, day
