"""--assume NAME=VALUE: what this one answer assumes, over the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from gpuledger.flows.setup import settings as settings_module
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption

F = TypeVar("F", bound=Callable[..., Any])


def assume_option(function: F) -> F:
    """--assume, which may be given several times."""
    return click.option(
        "--assume", "assumed", multiple=True, metavar="NAME=VALUE",
        help="Another value of one assumption (`gpuledger describe assumptions` lists them).",
    )(function)  # fmt: skip


def with_assumed(base: Assumptions, assumed: Iterable[str]) -> Assumptions:
    """`base` with the option's values. A usage error for what is no assumption or cannot be."""
    texts = {}
    for text in assumed:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--assume needs NAME=VALUE, not {text!r}")
        texts[name.strip()] = value.strip()
    return replaced(base, texts)


def replaced(base: Assumptions, texts: dict[str, str]) -> Assumptions:
    """`base` with some values as text. A usage error for what cannot be."""
    try:
        return base.with_text(texts)
    except ImpossibleAssumption as error:
        raise click.UsageError(str(error)) from None


def of_settings(assumed: Iterable[str]) -> Assumptions:
    """The assumptions of this machine's settings, and over them the option's."""
    return with_assumed(settings_module.load({}).assumptions, assumed)
