WITH figure AS (
    SELECT s.*, w.direction
    FROM (
        SELECT *, coalesce(gpu_count, 1) AS cards, regexp_replace(lower(software), '\s*[bv]?[0-9].*$', '') AS engine,
            -- Builds are compared number by number: 0.10.1 is newer than 0.9.2, and b6817 is newer than b999.
            list_transform(
                regexp_extract_all(regexp_extract(software, '[0-9]+([.][0-9]+)*'), '[0-9]+'), lambda part: try_cast(part AS HUGEINT)
            ) AS build
        FROM core.benchmark_score
    ) s
    LEFT JOIN core.workload w USING (workload_id)
    WHERE s.valid_to IS NULL AND s.match_status = 'matched' AND s.workload_id IS NOT NULL AND s.score > 0
        -- The figure of eight cards says nothing about one card. It belongs to a workload of its own.
        AND s.cards = coalesce(w.gpu_count, 1)
    -- If an engine has several figures of one day, the figure of its newest build counts.
    QUALIFY rank() OVER (
        PARTITION BY s.workload_id, s.gpu_id, s.claim, s.published_on, s.engine ORDER BY s.build DESC NULLS LAST
    ) = 1
),
newest AS (
    SELECT s.workload_id, s.gpu_id, s.score, s.unit, s.gpu_count, s.claim, s.source, s.published_on, s.article_url, s.snapshot_sha256,
        s.direction
    FROM figure s
    -- The preferred claim counts first, then the newest publication, then the first name in alphabetical order, so that two runs
    -- choose the same.
    QUALIFY row_number() OVER (
        PARTITION BY s.workload_id, s.gpu_id
        ORDER BY (s.claim = (SELECT value FROM core.setting WHERE setting = 'preferred_claim')) DESC NULLS LAST,
            s.published_on DESC NULLS LAST, s.valid_from DESC, s.source, s.gpu_name, s.score
    ) = 1
),
baseline AS (
    SELECT n.workload_id, n.gpu_id, n.score
    FROM newest n JOIN core.setting s ON s.setting = 'baseline_gpu_id' AND s.value = n.gpu_id
)
SELECT
    n.workload_id,
    rank() OVER (
        PARTITION BY n.workload_id ORDER BY CASE WHEN n.direction = 'less' THEN n.score ELSE -n.score END
    )::INTEGER AS rank,
    n.gpu_id,
    g.gpu,
    n.score,
    n.unit,
    core.ratio_half_up(
        CASE WHEN n.direction = 'less' THEN b.score ELSE n.score END,
        CASE WHEN n.direction = 'less' THEN n.score ELSE b.score END,
        12
    ) AS relative_to_baseline,
    b.gpu_id AS baseline_gpu_id,
    coalesce(n.gpu_count, 1) AS gpu_count,
    coalesce(n.claim, 'published') AS claim,
    n.source,
    n.published_on,
    n.article_url,
    n.snapshot_sha256
FROM newest n
JOIN core.gpu g USING (gpu_id)
LEFT JOIN baseline b USING (workload_id)
ORDER BY n.workload_id, rank, n.gpu_id
