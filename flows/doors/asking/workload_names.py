"""What `rank` and `value` share: the check of the workload, and the time of the answer."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.words.lang import gettext
from gpuledger.transform import queries
from gpuledger.transform import workloads as names
from gpuledger.transform.answers import workloads
from gpuledger.warehouse.paths import DataDir


def check(data: DataDir, workload: str) -> tuple[str, str]:
    """The id of the workload that a person named, in upper or lower case, and its title in the language in use.

    A usage error if no workload has this name, which lists the nearest ones or else all. A usage error too if no card has a
    figure in the workload.
    """
    known = workloads.ranked(data)
    workload_id = names.id_named(workload, known) or next(
        (one for one, text in known.items() if workload in (text, gettext(text))), None
    )
    if workload_id is not None:
        return workload_id, gettext(known[workload_id])
    if (without := names.id_named(workload, names.known(data.root))) is not None:
        message = gettext(
            "no card has a figure of {workload} yet; `gpuledger measure` and then `gpuledger refresh --only measurements` "
            "give it one"
        )
        raise click.UsageError(message.format(workload=without))
    if close := names.nearest(workload, known, known):
        message = gettext("no workload is called {workload!r}; the nearest are:").format(workload=workload)
        raise click.UsageError("\n  ".join([message, *close, gettext("`gpuledger workloads` lists all")]))
    message = gettext("no workload is called {workload!r}; known are:").format(workload=workload)
    raise click.UsageError("\n  ".join([message, *known]))


def when(data: DataDir, as_of: datetime | None) -> str:
    """The time of an answer for its heading: the day that was asked for, or the time of the newest run."""
    if as_of:
        return gettext("as known at the end of {day} UTC").format(day=f"{as_of:%Y-%m-%d}")
    last = queries.last(data)
    assert last is not None, "what is published, a run published"
    return f"{last.as_of:%Y-%m-%d %H:%M} UTC"
