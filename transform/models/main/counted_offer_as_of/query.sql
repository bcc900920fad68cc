-- Only what was known by the end of the day: versions that began after it, rates of later days and sightings after it do not
-- exist here, so the answer for a past day never changes.
-- `in_market` NULL is the home market of that day. Where several markets are asked, prices are net of tax, as in core.market_offer.
WITH asked AS (
    SELECT lower(coalesce(in_market, home.market)) AS market, home.market AS home, coalesce(in_market, home.market) IN ('eu', 'all') AS is_net
    FROM home_market_as_of(as_of_day) home
),
priced AS (
    SELECT
        h.gpu_id, h.gpu_count, s.seller_kind, s.seller, l.source, h.title, h.url, s.listing_no, s.price, s.currency,
        s.price_kind, s.availability, s.valid_from, s.snapshot_sha256, d.fx_day,
        s.confirmed_until,
        coalesce(l.market, a.home) AS offered_in, l.channel, t.tax_rate, l.tax_included AS tax_stated, m.prices_include_tax, a.is_net,
        a.market AS market_asked, s.price::DOUBLE * d.usd_rate AS printed_usd,
        (printed_usd * core.shelf_factor(l.tax_included, m.prices_include_tax, t.tax_rate))::DECIMAL(18, 2) AS price_usd,
        (
            printed_usd * core.net_factor(l.tax_included, m.prices_include_tax, t.tax_rate, s.seller_kind)
        )::DECIMAL(18, 2) AS net_usd
    FROM core.price_span s
    JOIN core.listing_history h ON h.listing_no = s.listing_no
    JOIN core.listing l ON l.listing_no = s.listing_no
    CROSS JOIN asked a
    LEFT JOIN core.market m ON m.market = l.market
    LEFT JOIN core.tax_rate t ON t.market = l.market AND as_of_day >= t.taxed_from
        AND (t.taxed_until IS NULL OR as_of_day < t.taxed_until)
    LEFT JOIN fx_usd_as_of(as_of_day) d ON d.currency = s.currency
    WHERE s.valid_from < core.end_of_day(as_of_day)
        AND (s.valid_to IS NULL OR s.valid_to >= core.end_of_day(as_of_day))
        AND h.valid_from < core.end_of_day(as_of_day)
        AND (h.valid_to IS NULL OR h.valid_to >= core.end_of_day(as_of_day))
        AND h.match_status = 'matched' AND s.condition = 'new'
        AND (NOT measured_only OR h.gpu_id IN (SELECT gpu_id FROM core.benchmark_score))
        AND a.market IN ('all', coalesce(l.market, a.home), m.market_region)
)
SELECT
    p.gpu_id, CASE WHEN p.is_net THEN p.net_usd ELSE p.price_usd END AS price_usd, p.price, p.currency, p.fx_day, p.source, p.listing_no,
    p.title, p.url, p.valid_from, p.snapshot_sha256, p.market_asked AS market, p.offered_in, coalesce(p.channel, 'official') AS channel,
    coalesce(p.tax_stated, p.prices_include_tax) AS tax_included, p.tax_rate, p.net_usd, p.is_net,
    core.last_seen_at(p.confirmed_until, f.all_seen_at, p.valid_from) AS last_seen_at
FROM priced p
LEFT JOIN source_freshness_as_of(as_of_day) f ON f.source = p.source
LEFT JOIN core.gpu g ON g.gpu_id = p.gpu_id
-- What is suspect looks at the two weeks after the day too, so this alone may take an offer out of a past day later.
ANTI JOIN suspect_price_as_of(as_of_day) s ON s.gpu_id = p.gpu_id AND s.market = p.offered_in
    AND p.price_usd NOT BETWEEN s.least_usd AND s.most_usd
WHERE core.offer_exclusion(
    p.gpu_count, 'new', f.is_usable, p.availability, p.seller_kind, p.seller, false,
    p.confirmed_until IS NULL OR p.confirmed_until >= p.valid_from
        AND core.is_fresh(p.confirmed_until, f.newest_at, f.freshness_hours),
    p.price, p.price_kind, p.price_usd, g.msrp_usd, p.channel
) IS NULL
    AND (NOT p.is_net OR p.net_usd IS NOT NULL)
