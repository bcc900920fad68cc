-- Which printed figures do not come out as printed, and why?
SELECT document, statement, published, recomputed, verdict, erratum
FROM mart.claim_audit
WHERE verdict <> 'agrees'
ORDER BY document, claim_id;
