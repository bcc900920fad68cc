"""Which card is fastest at a workload?"""

from __future__ import annotations

from datetime import date

from gpuledger.transform.answers.columns import columns
from gpuledger.warehouse.outputs.answer import Answer, Column
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: What people see of it, with the columns that predictions add.
SHOWN = columns(
    "rank", "gpu", "score", "unit", "relative_to_baseline", "claim", Column("source", "source"), "published_on", "basis",
    "low", "high", "bound",
)  # fmt: skip


def ranking(data: DataDir, workload: str, day: date | None) -> Answer:
    """Cards by score, the fastest first, now or as known at the end of `day`."""
    table = "ranking_as_of($day)" if day else "mart.ranking"
    sql = f"SELECT * FROM {table} WHERE workload_id = $workload ORDER BY rank, gpu_id"
    return Answer.of_query(*query(data, sql, {"workload": workload, **({"day": day} if day else {})}), SHOWN)


def published_after(data: DataDir, workload: str, day: date) -> date | None:
    """The latest publication among the figures for the end of `day`, if it is later than `day`.

    A backfill uses the figures of today for past days, because a card was not slower before somebody measured it.
    """
    sql = "SELECT max(published_on) FROM ranking_as_of($day) WHERE workload_id = $workload AND published_on > $day"
    published_on: date | None = query(data, sql, {"workload": workload, "day": day})[1][0][0]
    return published_on
