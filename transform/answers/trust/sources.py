"""Is each source healthy?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from gpuledger.extract.source import discover, seller
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The number of good runs whose median number of rows counts as normal.
NORMAL_RUNS = 30
#: The part of a reason that says that the rules of a robots.txt were read and forbid the address (`extract.fetch.robots`).
_FORBIDS = "/robots.txt forbids it"


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """The health of one source.

    `age_hours` is the age of its last good batch, None if it never gave one. `normal_rows` is the median number of rows in
    its last good batches before the newest. `gaps` are the times in which it was not read for longer than its limit.
    `emptied` names the columns that went empty on its newest night, None if none did.
    """

    source: str
    status: str
    reason: str | None
    last_success_at: datetime | None
    age_hours: float | None
    limit_hours: int
    rows: int
    normal_rows: float | None
    open_issues: int
    gaps: list[dict[Literal["since", "until"], datetime]]
    emptied: str | None = None

    @property
    def is_overdue(self) -> bool:
        """Whether its data are older than they may be."""
        return self.age_hours is None or self.age_hours > self.limit_hours

    @property
    def is_degraded(self) -> bool:
        """Whether it shows far fewer rows than usual."""
        return self.status == "degraded"

    @property
    def is_failing(self) -> bool:
        """Whether its last attempt gave nothing that could be used."""
        return self.status in ("failed", "refused")


@dataclass(frozen=True, slots=True)
class Record:
    """How often a source failed in its last nights, and how the last night ended.

    `robots` is the verdict of the site's robots.txt on the last live night (allowed, in part or forbidden), None if no live
    night read it. `forbidden_at` is that night if the rules themselves forbid the source. A robots.txt that cannot be read
    forbids the source for that night only.
    """

    status: str
    failed: int
    nights: int
    robots: str | None
    forbidden_at: datetime | None


def records(data: DataDir) -> dict[str, Record]:
    """The record of every source that a run ever tried, over its last NORMAL_RUNS nights. Raises NoWarehouse."""
    _, rows = query(
        data,
        f"""WITH tried AS (
                SELECT s.source, s.status, s.run_id, r.sample_night IS NULL AS is_live,
                    starts_with(coalesce(s.reason, ''), 'RobotsDisallowed') AS is_forbidden, s.pages,
                    CASE WHEN contains(s.reason, ?) THEN r.as_of END AS forbidden_at,
                    row_number() OVER (PARTITION BY s.source ORDER BY s.rowid DESC) AS back
                FROM ops.source_run s JOIN ops.run r USING (run_id)
            ),
            last_live AS (
                SELECT source, arg_min(run_id, back) AS run_id, arg_min(is_forbidden, back) AS is_forbidden,
                    arg_min(pages, back) AS pages, min_by(struct_pack(at := forbidden_at), back).at AS forbidden_at
                FROM tried WHERE is_live GROUP BY source
            ),
            in_part AS (SELECT DISTINCT source, run_id FROM ops.issue WHERE code = 'RobotsDisallowed')
            SELECT t.source, arg_min(t.status, t.back), count(*) FILTER (t.status IN ('failed', 'refused')), count(*),
                CASE WHEN any_value(l.is_forbidden) THEN 'forbidden' WHEN any_value(p.run_id) IS NOT NULL THEN 'in part'
                    WHEN any_value(l.pages) > 0 THEN 'allowed' END,
                any_value(l.forbidden_at)
            FROM tried t LEFT JOIN last_live l ON l.source = t.source
            LEFT JOIN in_part p ON p.source = l.source AND p.run_id = l.run_id
            WHERE t.back <= {NORMAL_RUNS} GROUP BY t.source""",
        [_FORBIDS],
    )
    return {source: Record(*record) for source, *record in rows}


def presumed(data: DataDir) -> list[str]:
    """The shops for whose pages there are no rules of their own, by their hosts. Raises NoWarehouse."""
    many = [source.name for source in discover() if source.is_of_many_shops]
    sql = "SELECT DISTINCT source, url FROM core.listing WHERE list_contains(?, source) AND ended_at IS NULL"
    return sorted({seller(source, url) for source, url in query(data, sql, [many])[1]})


def sources(data: DataDir, now: datetime) -> list[SourceHealth]:
    """Every source that was ever read, by name. No age is negative, even if somebody set the clock back."""
    _, rows = query(
        data,
        f"""WITH good AS (
                SELECT source, loaded, row_number() OVER (PARTITION BY source ORDER BY rowid DESC) AS back
                FROM ops.source_run WHERE status IN ('ok', 'unchanged', 'partial')
            ),
            normal AS (
                SELECT source, median(loaded) AS rows FROM good WHERE back BETWEEN 2 AND {NORMAL_RUNS + 1} GROUP BY source
            ),
            newest AS (SELECT source, arg_max(run_id, rowid) AS run_id FROM ops.source_run GROUP BY source),
            gaps AS (
                SELECT n.source, list({{'since': since, 'until': seen_at}} ORDER BY since) AS gaps
                FROM (
                    SELECT source, seen_at, lag(seen_at) OVER (PARTITION BY source ORDER BY seen_at) AS since
                    FROM core.source_night
                ) n JOIN ops.source_state s ON s.source = n.source AND seen_at > since + to_hours(s.freshness_hours)
                GROUP BY n.source
            ),
            open AS (
                SELECT source, count(*) AS issues,
                    string_agg(place, ', ' ORDER BY place) FILTER (code = 'column_empty') AS emptied
                FROM ops.issue SEMI JOIN newest USING (source, run_id) GROUP BY source
            )
            SELECT s.source, s.status, s.reason, s.last_success_at,
                greatest(0, date_diff('second', s.last_success_at, ?::TIMESTAMPTZ)) / 3600.0, s.freshness_hours, s.rows,
                n.rows, coalesce(o.issues, 0), coalesce(g.gaps, []), o.emptied
            FROM ops.source_state s LEFT JOIN normal n USING (source) LEFT JOIN open o USING (source)
            LEFT JOIN gaps g USING (source) ORDER BY source""",
        [now],
    )
    return [SourceHealth(*row) for row in rows]
