"""Which workloads exist?"""

from __future__ import annotations

from gpuledger.transform.answers.columns import columns
from gpuledger.warehouse.outputs.answer import Answer, Column
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def known(data: DataDir) -> list[str]:
    """The ids of all workloads."""
    return [workload for (workload,) in query(data, "SELECT workload_id FROM core.workload ORDER BY 1")[1]]


def ranked(data: DataDir) -> dict[str, str]:
    """The names of the workloads in which any card has a score, by their ids."""
    sql = "SELECT workload_id, workload FROM core.workload SEMI JOIN mart.ranking USING (workload_id) ORDER BY 1"
    return dict(query(data, sql)[1])


SHOWN = columns(
    "workload_id", "workload", "unit", Column("direction", "direction"), Column("gpu_count", "cards together"),
    Column("cards", "cards"), Column("newest_on", "newest figure"),
    Column("oldest_on", "oldest figure"),
)  # fmt: skip
_FIRST = ("workload_id", "cards", "unit", "workload", "newest_on", "oldest_on", "gpu_count")


def listed(data: DataDir) -> Answer:
    """All workloads with the number of cards that have a score, and the newest and oldest day of these scores."""
    sql = """SELECT w.workload_id, w.workload, w.unit, w.direction, w.gpu_count, count(r.gpu_id) AS cards,
            max(r.published_on) AS newest_on, min(r.published_on) AS oldest_on
        FROM core.workload w LEFT JOIN mart.ranking r USING (workload_id)
        GROUP BY ALL ORDER BY 1"""
    return Answer.of_query(*query(data, sql), SHOWN).with_first(*_FIRST)
