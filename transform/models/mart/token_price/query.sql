-- A list with days states its whole history each night, so only its newest statement counts, and it has the price of today
-- too. A day ends all that was stated for an earlier one.
WITH stated AS (
    SELECT t.*, unnest([
        {'tokens': 'input', 'amount': t.input_price}, {'tokens': 'cache read', 'amount': t.cached_input_price},
        {'tokens': 'output', 'amount': t.output_price}
    ], recursive := true), 0::BIGINT AS above_tokens, NULL::VARCHAR AS utc_from, NULL::VARCHAR AS utc_until,
        NULL::VARCHAR AS utc_days, 'standard' AS service, NULL::DATE AS since, true AS is_column
    FROM core.token_price t
    UNION ALL
    SELECT t.*, r.tokens, r.price, coalesce(r.above_tokens, 0), r.utc_from, r.utc_until, r.utc_days,
        coalesce(r.service, 'standard'), r.since, false
    FROM core.token_price t, unnest(from_json(t.rates, '[{
        "tokens": "VARCHAR", "price": "DECIMAL(18,6)", "above_tokens": "BIGINT", "utc_from": "VARCHAR",
        "utc_until": "VARCHAR", "utc_days": "VARCHAR", "service": "VARCHAR", "since": "DATE"
    }]')) AS u(r)
),
told AS (
    SELECT *, bool_or(since IS NOT NULL) OVER of_model AS is_dated
    FROM stated
    WHERE amount IS NOT NULL
    WINDOW of_model AS (PARTITION BY source, provider, hosted_name, valid_from)
    QUALIFY NOT is_column OR NOT bool_or(since IS NOT NULL) OVER of_model
),
spans AS (
    SELECT t.source, t.provider, t.hosted_name, t.repository, t.tokens, t.above_tokens, t.utc_from, t.utc_until, t.utc_days,
        t.service, t.amount AS price, t.currency, (t.amount::DOUBLE * fx.usd_rate)::DECIMAL(18, 6) AS price_usd,
        CASE WHEN t.is_dated THEN t.since::TIMESTAMPTZ ELSE t.valid_from END AS valid_from,
        CASE WHEN t.is_dated THEN (
            SELECT min(later.since) FROM told later
            WHERE later.source = t.source AND later.provider = t.provider AND later.hosted_name = t.hosted_name
                AND later.valid_from = t.valid_from AND later.service = t.service
                AND later.since > coalesce(t.since, DATE '0001-01-01')
        )::TIMESTAMPTZ ELSE t.valid_to END AS valid_to,
        t.source <> t.provider AS is_second_hand, t.snapshot_sha256
    FROM told t LEFT JOIN core.fx_usd fx ON fx.currency = t.currency
    WHERE NOT t.is_dated OR t.valid_to IS NULL
)
SELECT s.* EXCLUDE (snapshot_sha256), CASE WHEN own.price_usd <> s.price_usd THEN own.price_usd END AS own_usd,
    s.snapshot_sha256
FROM spans s
CROSS JOIN (SELECT max(as_of) AS as_of FROM ops.run) r
LEFT JOIN spans own ON s.is_second_hand AND coalesce(s.valid_from <= r.as_of, true) AND coalesce(s.valid_to > r.as_of, true)
    AND own.source = s.provider AND own.valid_to IS NULL
    AND own.hosted_name = s.hosted_name AND own.tokens = s.tokens AND own.above_tokens = s.above_tokens
    AND own.service = s.service AND own.utc_from IS NOT DISTINCT FROM s.utc_from
ORDER BY s.provider, s.hosted_name, s.tokens, s.above_tokens, s.utc_from, s.service, s.valid_from, s.source
