"""`gpuledger rank`: who is fastest at a workload."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.commands._options import as_of_option, data_dir_option, data_of, format_option


@click.command()
@click.argument("workload")
@as_of_option
@data_dir_option
@format_option
def command(workload: str, as_of: datetime | None, data_dir: str | None, form: str) -> None:
    """GPUs by their score in WORKLOAD, fastest first."""
    from gpuledger.flows.commands import _workload
    from gpuledger.flows.commands._show import show
    from gpuledger.warehouse.read import query

    data = data_of(data_dir)
    words = _workload.check(data, workload)
    table = "ranking_as_of($day)" if as_of else "mart.ranking"
    sql = f"SELECT * FROM {table} WHERE workload_id = $workload ORDER BY rank, gpu_id"
    if form == "table":
        sql = f"""SELECT rank, gpu, score, unit, round(relative_to_baseline, 2) AS relative_to_baseline, source, published_on
                  FROM ({sql}) ORDER BY rank, gpu_id"""
    columns, rows = query(data, sql, {"workload": workload, **({"day": as_of.date()} if as_of else {})})
    headings = {"relative_to_baseline": "× baseline", "published_on": "published on"}
    show(columns, rows, form, title=f"{words} · {_workload.when(data, as_of)}", words=headings)
