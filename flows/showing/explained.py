"""What --explain shows: each figure as arithmetic, and where its numbers come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpuledger.flows.showing import terminal
from gpuledger.flows.words.say import say

if TYPE_CHECKING:
    from gpuledger.transform.speed.explained import Step


def as_objects(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """The steps as objects for programs."""
    return [
        {
            "figure": step.figure,
            "arithmetic": step.arithmetic,
            "value": step.value,
            "unit": step.unit,
            "source": str(step.source),
        }
        for step in steps
    ]


def show_steps(steps: Iterable[Step]) -> None:
    """Print the steps for people: one line for each calculation, and below it where its numbers come from."""
    for step in steps:
        terminal.say(f"   {say(step.figure)}: {step.arithmetic} = {step.value:,.6g} {say(step.unit)}")
        terminal.say(f"      {say(step.source)}")
