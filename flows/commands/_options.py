"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from gpuledger.flows.setup import settings as settings_module
from gpuledger.warehouse.paths import DataDir

F = TypeVar("F", bound=Callable[..., Any])


def data_dir_option(function: F) -> F:
    """--data-dir, None where it is not given: the settings know."""
    return click.option(
        "--data-dir", metavar="D", help="Folder of the warehouse (default: data, or the setting data_dir)."
    )(function)


def log_format_option(function: F) -> F:
    """--log-format, None where it is not given: the settings know."""
    return click.option(
        "--log-format", type=click.Choice(["text", "json"]), help="How the log is written (default: the setting, text)."
    )(function)


def format_option(function: F) -> F:
    """--format of a reading command."""
    return click.option(
        "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True,
        help="How the answer is written.",
    )(function)  # fmt: skip


def as_of_option(function: F) -> F:
    """--as-of of a reading command: a day, answered as it was known at its end."""
    return click.option(
        "--as-of", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY",
        help="Answer as it was known at the end of this day (UTC).",
    )(function)  # fmt: skip


def data_of(data_dir: str | None) -> DataDir:
    """The data directory of the option, the environment or the settings file."""
    return DataDir(Path(settings_module.load({"data_dir": data_dir}).data_dir))
