"""--assume NAME=VALUE, which for one answer overrides an assumption."""

from __future__ import annotations

from collections.abc import Mapping

import click

from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.say import as_wrong_use
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption

explain_option = click.option(
    "--explain", is_flag=True, help="Each figure as arithmetic, to the last step, with its sources."
)


def assumption(text: str) -> tuple[str, str]:
    """The name and the value in a text of the option --assume. A usage error if the text has no `=`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--assume needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def with_texts(base: Assumptions, texts: Mapping[str, str]) -> Assumptions:
    """`base` with some values replaced, which are given as text. A usage error for an impossible value."""
    with as_wrong_use(ImpossibleAssumption):
        return base.with_text(texts)


def of_settings(assumed: Mapping[str, str]) -> Assumptions:
    """The assumptions of this machine's settings, some of them with other values. A usage error for an impossible one."""
    return with_texts(settings_module.load({}).assumptions, assumed)
