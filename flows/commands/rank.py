"""`gpuledger rank`: who is fastest at a workload."""

from __future__ import annotations

import click

from flows.commands._options import data_dir_option, data_of, format_option


@click.command()
@click.argument("workload")
@data_dir_option
@format_option
def command(workload: str, data_dir: str | None, form: str) -> None:
    """GPUs by their score in WORKLOAD, fastest first."""
    from flows.commands import _workload
    from flows.commands._show import show
    from warehouse.read import query

    data = data_of(data_dir)
    words = _workload.check(data, workload)
    sql = "SELECT * FROM mart.ranking WHERE workload_id = ? ORDER BY rank, gpu_id"
    if form == "table":
        sql = f"""SELECT rank, gpu, score, unit, round(relative_to_baseline, 2) AS relative_to_baseline, source, published_on
                  FROM ({sql})"""
    columns, rows = query(data, sql, [workload])
    headings = {"relative_to_baseline": "× baseline", "published_on": "published"}
    show(columns, rows, form, title=f"{words} · {_workload.latest(data)}", words=headings)
