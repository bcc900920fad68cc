"""Which card is fastest at a workload?"""

from __future__ import annotations

from datetime import date

from gpuledger.transform.answers.asking import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def ranking(data: DataDir, workload: str, day: date | None, *, short: bool) -> Rows:
    """Cards by score, the fastest first, now or as known at the end of `day`. `short` gives only the columns for people."""
    table = "ranking_as_of($day)" if day else "mart.ranking"
    columns = (
        "rank, gpu, score, unit, round(relative_to_baseline, 2) AS relative_to_baseline, claim, source, published_on"
        if short
        else "*"
    )
    sql = f"SELECT {columns} FROM {table} WHERE workload_id = $workload ORDER BY rank, gpu_id"
    return query(data, sql, {"workload": workload, **({"day": day} if day else {})})


def published_after(data: DataDir, workload: str, day: date) -> date | None:
    """The latest publication among the figures for the end of `day`, if it is later than `day`.

    A backfill uses the figures of today for past days, because a card was not slower before somebody measured it.
    """
    sql = "SELECT max(published_on) FROM ranking_as_of($day) WHERE workload_id = $workload AND published_on > $day"
    published_on: date | None = query(data, sql, {"workload": workload, "day": day})[1][0][0]
    return published_on
