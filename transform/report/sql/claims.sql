SELECT document, statement, published, recomputed, unit, decimals, verdict, erratum
FROM mart.claim_audit
ORDER BY document, agrees, claim_id
