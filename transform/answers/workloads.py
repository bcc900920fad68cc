"""Which workloads are there?"""

from __future__ import annotations

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


def known(data: DataDir) -> list[str]:
    """Ids of all workloads."""
    return [workload for (workload,) in query(data, "SELECT workload_id FROM core.workload ORDER BY 1")[1]]


def ranked(data: DataDir) -> dict[str, str]:
    """Names of the workloads that a card has a score in, by their ids."""
    sql = "SELECT workload_id, workload FROM core.workload SEMI JOIN mart.ranking USING (workload_id) ORDER BY 1"
    return dict(query(data, sql)[1])
