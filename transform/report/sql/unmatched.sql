SELECT kind, source AS shop, title, min(url) AS url, match_status, match_candidates, count(*) AS count, count(*) OVER () AS total
FROM core.unmatched_title
GROUP BY kind, source, title, match_status, match_candidates
ORDER BY kind <> 'listing', source, title, match_status
LIMIT $most
