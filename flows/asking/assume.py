"""--assume NAME=VALUE: change an assumption for this one answer. It overrides the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.say import say
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption

F = TypeVar("F", bound=Callable[..., Any])


def assume_option(function: F) -> F:
    """The option --assume, which may be given several times."""
    return click.option(
        "--assume", "assumed", multiple=True, metavar="NAME=VALUE",
        help="Another value of one assumption (`gpuledger describe assumptions` lists them).",
    )(function)  # fmt: skip


def with_assumed(base: Assumptions, assumed: Iterable[str]) -> Assumptions:
    """`base` with the values of the option --assume. A usage error for an unknown name or an impossible value."""
    return with_texts(base, dict(assumption(text) for text in assumed))


def assumption(text: str) -> tuple[str, str]:
    """The name and the value in a text of the option --assume. A usage error if the text has no `=`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--assume needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def with_texts(base: Assumptions, texts: dict[str, str]) -> Assumptions:
    """`base` with some values replaced, which are given as text. A usage error for an impossible value."""
    try:
        return base.with_text(texts)
    except ImpossibleAssumption as error:
        raise click.UsageError(say(error)) from None


def of_settings(assumed: Iterable[str]) -> Assumptions:
    """The assumptions of this machine's settings, overridden by the values of the option --assume."""
    return with_assumed(settings_module.load({}).assumptions, assumed)
