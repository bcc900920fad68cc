-- What the user wrote is what it says also beside the pages of the sample.
nullif(concat_ws(', ',
    CASE WHEN (SELECT s.status FROM ops.source_state s WHERE s.source = origin) IN ('failed', 'refused')
        OR (SELECT NOT f.is_usable FROM core.source_freshness f WHERE f.source = origin) THEN 'stale' END,
    CASE WHEN (SELECT r.is_sample FROM ops.last_run r) AND origin NOT IN ('quotes', 'own_rates', 'measurements') THEN 'invented' END
), '')
