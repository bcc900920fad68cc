"""`gpuledger rank`: which cards are fastest in a workload."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.doors.asking.options import (
    as_of_option,
    data_dir_option,
    day_of,
    format_option,
    read_from,
)
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("workload")
@as_of_option
@data_dir_option
@format_option
def command(workload: str, as_of: datetime | None, data_dir: str | None, form: str) -> int:
    """GPUs by their score in WORKLOAD, fastest first."""
    from gpuledger.flows.doors.asking import workload_names
    from gpuledger.flows.doors.showing.show import no_rows, show
    from gpuledger.transform.answers.value import ranking

    data = read_from(data_dir, as_one=True)
    workload, heading = workload_names.check(data, workload)
    answer = ranking(data, workload, day_of(data, as_of))
    show(answer.under(f"{heading} · {workload_names.when(data, as_of)}"), form)
    return 0 if answer.rows else no_rows(gettext("no figure of this workload had been read by then"))
