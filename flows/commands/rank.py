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
    from gpuledger.transform.answers.ranking import ranking

    data = data_of(data_dir)
    words = _workload.check(data, workload)
    columns, rows = ranking(data, workload, as_of.date() if as_of else None, short=form == "table")
    headings = {"relative_to_baseline": "× baseline", "published_on": "published on"}
    show(columns, rows, form, title=f"{words} · {_workload.when(data, as_of)}", words=headings)
