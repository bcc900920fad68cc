SELECT document, verdict, count(*) AS count
FROM mart.claim_audit
GROUP BY ALL
ORDER BY document, verdict
