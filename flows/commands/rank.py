"""`gpuledger rank`: which cards are fastest in a workload."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.commands import _complete
from gpuledger.flows.commands._options import (
    as_of_option,
    data_dir_option,
    day_of,
    format_option,
    predicted_option,
    read_from,
)
from gpuledger.flows.telling import terminal
from gpuledger.flows.words.lang import gettext

#: Headings by column, in the order in which a narrow screen keeps the columns.
_HEADINGS = {
    "rank": "rank", "gpu": "gpu", "score": "score", "relative_to_baseline": "× baseline", "published_on": "published on",
    "basis": "basis", "low": "low", "high": "high", "bound": "bound",
}  # fmt: skip


@click.command()
@click.argument("workload", shell_complete=_complete.workloads)
@as_of_option
@predicted_option
@data_dir_option
@format_option
def command(workload: str, as_of: datetime | None, is_predicted: bool, data_dir: str | None, form: str) -> int:
    """GPUs by their score in WORKLOAD, fastest first."""
    from gpuledger.flows.commands import _workload
    from gpuledger.flows.commands._show import no_rows, show
    from gpuledger.transform.answers.ranking import ranking

    data = read_from(data_dir)
    workload, heading = _workload.check(data, workload)
    short = form == "table"
    if is_predicted:
        columns, rows = _workload.ranking_with(data, workload, as_of, short=short)
    else:
        columns, rows = ranking(data, workload, day_of(data, as_of), short=short)
    show(columns, rows, form, title=f"{heading} · {_workload.when(data, as_of)}", headings=_HEADINGS)
    if is_predicted and short:
        terminal.say(_workload.about_predictions())
    return 0 if rows else no_rows(gettext("no figure of this workload had been read by then"))
