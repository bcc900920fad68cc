SELECT document, statement, published, recomputed, unit, verdict, erratum
FROM mart.claim_audit
WHERE NOT agrees
ORDER BY document, claim_id
LIMIT $most
