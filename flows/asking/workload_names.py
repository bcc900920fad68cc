"""What `rank` and `value` share: the check of the workload, the tables with predictions, and texts around the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from gpuledger.flows.showing import chosen
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.transform import queries
from gpuledger.transform import workloads as names
from gpuledger.transform.answers import workloads
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.answers.predicted import PredictionRequest
    from gpuledger.transform.answers.value import Basis
    from gpuledger.warehouse.outputs.answer import Answer


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
    if (without := names.id_named(workload, names.known(data.workloads))) is not None:
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


def ranking_with(data: DataDir, workload: str, as_of: datetime | None) -> Answer:
    """The ranking with predictions. A usage error if this workload cannot be predicted, or if a past day is asked for."""
    from gpuledger.transform.answers import predicted

    with _predictable(as_of):
        return predicted.ranking_with(data, _wanted(data, workload))


def value_with(data: DataDir, workload: str, basis: Basis, as_of: datetime | None) -> Answer:
    """The table of value with predictions. Usage errors as of `ranking_with`."""
    from gpuledger.transform.answers import predicted

    with _predictable(as_of):
        return predicted.value_with(data, _wanted(data, workload), basis, chosen.market())


@contextmanager
def _predictable(as_of: datetime | None) -> Iterator[None]:
    from gpuledger.transform.answers.predicted import NotPredictable

    if as_of is not None:
        raise click.UsageError(gettext("--predicted rests on the measurements of today: leave --as-of out"))
    try:
        yield
    except NotPredictable as error:
        raise click.UsageError(say(error)) from None


def _wanted(data: DataDir, workload: str) -> PredictionRequest:
    from gpuledger.flows.asking.assume import of_settings
    from gpuledger.transform.answers.predicted import PredictionRequest

    return PredictionRequest(workload, data.models, of_settings({}))


def about_predictions() -> str:
    """The sentence below a table with predictions."""
    return gettext(
        "basis: measured; calibrated, which is calculated and fitted to measurements; or bound, which is calculated from "
        "the data sheet alone. A calculated score lies within its range in 8 of 10 cases"
    )


def when(data: DataDir, as_of: datetime | None) -> str:
    """The time of an answer for its heading: the day that was asked for, or the time of the newest run."""
    if as_of:
        return gettext("as known at the end of {day} UTC").format(day=f"{as_of:%Y-%m-%d}")
    last = queries.last(data)
    assert last is not None, "what is published, a run published"
    return f"{last.as_of:%Y-%m-%d %H:%M} UTC"
