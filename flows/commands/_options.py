"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import click

from gpuledger.flows.commands._day import day
from gpuledger.flows.setup import settings as settings_module
from gpuledger.flows.setup import showing
from gpuledger.flows.setup.lang import gettext
from gpuledger.flows.setup.languages import LANGUAGES
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
    """--format of a reading command, and --json for the one that programs ask for most."""
    return form_option(click.option("--json", "form", flag_value="json", help="The same as --format json.")(function))


def form_option(function: F) -> F:
    """--format alone, where --json says something else; and --lang, which the command line looks for wherever it stands."""
    function = click.option(
        "--lang", type=click.Choice(LANGUAGES), expose_value=False,
        help="Language of headings, messages and the report (default: the setting lang, en).",
    )(function)  # fmt: skip
    return click.option(
        "--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True,
        help="How the answer is written.",
    )(function)  # fmt: skip


def market_option(function: F) -> F:
    """--market of a reading command."""
    return click.option(
        "--market", metavar="M", expose_value=False, callback=showing.use_market,
        help="Prices of this market: us, kr, de, eu …, or all, net of tax (default: the setting market).",
    )(function)  # fmt: skip


def currency_option(function: F) -> F:
    """--currency of a command that shows money."""
    return click.option(
        "--currency", metavar="C", expose_value=False, callback=showing.use_currency,
        help="Show money in this currency: EUR, KRW … (default: USD).",
    )(function)  # fmt: skip


def as_of_option(function: F) -> F:
    """--as-of of a reading command: a day, answered as it was known at its end."""
    return click.option(
        "--as-of", type=day, metavar="DAY",
        help="Answer as it was known at the end of this day (UTC).",
    )(function)  # fmt: skip


def predicted_option(function: F) -> F:
    """--predicted of the tables of a workload."""
    return click.option(
        "--predicted", "is_predicted", is_flag=True,
        help="Also cards that nobody measured, as calculated: marked, with a range that holds in 8 of 10 cases.",
    )(function)  # fmt: skip


def day_of(data: DataDir, as_of: datetime | None) -> date | None:
    """The day of --as-of. A usage error for one that has not come; of one before the first, a line says which that is."""
    if as_of is None:
        return None
    day, today = as_of.date(), datetime.now(UTC).date()
    if day > today:
        message = gettext("--as-of {day}: that day has not come yet; today is {today} (UTC)")
        raise click.UsageError(message.format(day=day, today=today))
    from gpuledger.transform.answers import runs

    first = runs.first_day(data)
    if first is not None and day < first:
        message = gettext("nothing had been read by {day}: the first day is {first} (UTC)")
        click.echo(message.format(day=day, first=first), err=True)
    return day


def data_of(data_dir: str | None) -> DataDir:
    """The data directory of the option, the environment or the settings file."""
    return settings_module.load({"data_dir": data_dir}).data()


def read_from(data_dir: str | None) -> DataDir:
    """Where a reading command finds the published warehouse: in the data directory or, where the setting `warehouse` names a
    store, in a copy that is brought up to date first. --data-dir goes before the setting.
    """
    settings = settings_module.load({"data_dir": data_dir})
    if not settings.warehouse or data_dir is not None:
        return settings.data()
    from gpuledger.flows.setup import copies

    return copies.of(settings)
