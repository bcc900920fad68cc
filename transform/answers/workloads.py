"""Which workloads are there?"""

from __future__ import annotations

from gpuledger.transform.answers.asking import Rows
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def known(data: DataDir) -> list[str]:
    """Ids of all workloads."""
    return [workload for (workload,) in query(data, "SELECT workload_id FROM core.workload ORDER BY 1")[1]]


def ranked(data: DataDir) -> dict[str, str]:
    """Names of the workloads that a card has a score in, by their ids."""
    sql = "SELECT workload_id, workload FROM core.workload SEMI JOIN mart.ranking USING (workload_id) ORDER BY 1"
    return dict(query(data, sql)[1])


def listed(data: DataDir) -> Rows:
    """All workloads with how many cards have a figure, and the newest and oldest day of those that count."""
    sql = """SELECT w.workload_id, w.workload, w.unit, w.direction, w.gpu_count, count(r.gpu_id) AS cards,
            max(r.published_on) AS newest_on, min(r.published_on) AS oldest_on
        FROM core.workload w LEFT JOIN mart.ranking r USING (workload_id)
        GROUP BY ALL ORDER BY 1"""
    return query(data, sql)
