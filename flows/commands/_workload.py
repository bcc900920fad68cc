"""The tables of one workload, with the words and checks that `rank` and `value` share."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.setup.lang import gettext
from gpuledger.transform.answers import runs, workloads
from gpuledger.warehouse.paths import DataDir


def check(data: DataDir, workload: str) -> str:
    """The workload in words. A usage error with the known ids where there is none of this name."""
    known = workloads.ranked(data)
    if workload not in known:
        message = gettext("no workload is called {workload!r}; known are:").format(workload=workload)
        raise click.UsageError("\n  ".join([message, *known]))
    return known[workload]


def when(data: DataDir, as_of: datetime | None) -> str:
    """What an answer's heading says of its time: the day that was asked for, or that of the newest run."""
    if as_of:
        return gettext("as known at the end of {day} UTC").format(day=f"{as_of:%Y-%m-%d}")
    last = runs.last(data)
    assert last is not None, "what is published, a run published"
    return f"{last.as_of:%Y-%m-%d %H:%M} UTC"
