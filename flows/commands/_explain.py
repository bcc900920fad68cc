"""--explain: each figure as arithmetic, with where its numbers are from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.setup.reckoned import reckoned
from gpuledger.flows.telling import terminal

if TYPE_CHECKING:
    from gpuledger.transform.speed.explained import Step

#: Options that `buy` explains where no --limit is given.
FIRST = 3

explain_option = click.option(
    "--explain", is_flag=True, help="Each figure as arithmetic, to the last step, with its sources."
)


def as_objects(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """The steps for programs."""
    return [
        {
            "figure": step.figure,
            "arithmetic": step.arithmetic,
            "value": step.value,
            "unit": step.unit,
            "source": step.source,
        }
        for step in steps
    ]


def show_steps(steps: Iterable[Step]) -> None:
    """The steps for people: a sum a line, and below it where its numbers are from."""
    for step in steps:
        terminal.say(f"   {reckoned(step.figure)}: {step.arithmetic} = {step.value:,.6g} {reckoned(step.unit)}")
        terminal.say(f"      {reckoned(step.source)}")
