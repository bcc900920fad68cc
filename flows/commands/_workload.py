"""The tables of one workload, with the words and checks that `rank` and `value` share."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.setup.lang import gettext
from gpuledger.transform import workloads as names
from gpuledger.transform.answers import runs, workloads
from gpuledger.warehouse.paths import DataDir


def check(data: DataDir, workload: str) -> tuple[str, str]:
    """The id of a workload, whatever its letters' case, and the workload in words.

    A usage error where there is none of this name: with the nearest ones, or else with all.
    """
    known = workloads.ranked(data)
    workload_id = names.named(workload, known) or next((one for one, text in known.items() if text == workload), None)
    if workload_id is not None:
        return workload_id, known[workload_id]
    if close := names.nearest(workload, known, known):
        message = gettext("no workload is called {workload!r}; the nearest are:").format(workload=workload)
        raise click.UsageError("\n  ".join([message, *close, gettext("`gpuledger workloads` lists all")]))
    message = gettext("no workload is called {workload!r}; known are:").format(workload=workload)
    raise click.UsageError("\n  ".join([message, *known]))


def when(data: DataDir, as_of: datetime | None) -> str:
    """What an answer's heading says of its time: the day that was asked for, or that of the newest run."""
    if as_of:
        return gettext("as known at the end of {day} UTC").format(day=f"{as_of:%Y-%m-%d}")
    last = runs.last(data)
    assert last is not None, "what is published, a run published"
    return f"{last.as_of:%Y-%m-%d %H:%M} UTC"
