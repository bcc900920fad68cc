-- The bound that a held price broke, by the name of the rule in the gate (transform/gate/rules.py). There is no setting for an
-- amount that means "no price", for a changed currency, or for prices that are gone.
WITH rule(hold, bound) AS (VALUES ('move', 'gate_max_move'), ('crowd', 'gate_crowd_move')),
offer AS (
    SELECT offer_id, concat_ws(' ', provider, region, instance, gpu_count || '×', gpu_name, pricing_model) AS title
    FROM core.cloud_offer_history WHERE valid_to IS NULL
)
SELECT
    h.listing_id,
    coalesce(h.kind, 'offer') AS kind,
    h.source,
    coalesce(l.title, offer.title, h.listing_id) AS title,
    l.url,
    h.price,
    h.currency,
    h.reference_price,
    h.reference_currency,
    h.hold,
    rule.bound,
    h.reason,
    h.held_at,
    h.times_held,
    h.snapshot_sha256
FROM core.held_price h
LEFT JOIN core.listing l ON l.listing_id = h.listing_id
LEFT JOIN offer ON offer.offer_id = h.listing_id
LEFT JOIN rule ON rule.hold = h.hold
