"""Options that several commands share."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import click

from gpuledger.flows.doors.showing import chosen, terminal
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext
from gpuledger.message import LANGUAGES, Failure
from gpuledger.warehouse.paths import DataDir


def day(text: str) -> datetime:
    """Midnight of the day `YYYY-MM-DD`. A usage error for any other text.

    No other way to write a day is accepted, because 3/4/2026 is in March in some countries and in April in others.
    """
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    raise click.BadParameter(gettext("{text!r} is not a day such as 2026-11-20").format(text=text))


F = TypeVar("F", bound=Callable[..., Any])

#: More than any number that somebody means, and little enough for every column.
MOST = 10**12


class Whole(click.IntRange):
    """A whole number from `min` on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that was typed. Raises BadParameter for one that is too large."""
        number = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{number} is not in the range x<={MOST}.", param, ctx)
        return number


class Amount(click.FloatRange):
    """A number of money or speed. Python also reads nan and inf as numbers, and these are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that was typed. Raises BadParameter for nan, infinity and one that is too large."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid float.", param, ctx)
        if number > MOST:
            self.fail(f"{value} is not in the range x<={MOST}.", param, ctx)
        return number


class Paid(Amount):
    """An amount of money as people write it: `3000`, `$2,500`, `2.500 €`, `300만원`. Its sign says in which
    currency the answer is.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises BadParameter for what can be read in two ways, or is not in the currency of --currency."""
        from gpuledger.extract.price.money import Ambiguous, Money, read_typed

        found = read_typed(value) if isinstance(value, str) else None
        if isinstance(found, Ambiguous):
            ways = f" {gettext('or')} ".join(f"{reading.normalize():f}" for reading in found.readings)
            message = (
                gettext("{text!r} may be {ways}: write one of them, or a currency beside it") if ways
                else gettext("{text!r} can be read in several ways: write one amount, with the code of its currency")
            )  # fmt: skip
            self.fail(message.format(text=value, ways=ways), param, ctx)
        if isinstance(found, Money):
            if found.currency:
                chosen.name_currency(found.currency)
            value = float(found.amount)
        return super().convert(value, param, ctx)


def data_dir_option(function: F) -> F:
    """--data-dir. None if it is not given: the settings then name the folder."""
    return click.option(
        "--data-dir",
        metavar="D",
        callback=_named_folder,
        help="Folder of the warehouse (default: data, or the setting data_dir).",
    )(function)


keep_sample_option = click.option(
    "--keep-sample", is_flag=True, help="Take real prices into a folder that holds the sample."
)


def _named_folder(context: click.Context, _option: click.Parameter, folder: str | None) -> str | None:
    settings_module.NAMED_FOLDER.set(folder)
    context.call_on_close(lambda: settings_module.NAMED_FOLDER.set(None))
    return folder


def log_format_option(function: F) -> F:
    """--log-format. None if it is not given: the settings then say it."""
    return click.option(
        "--log-format", type=click.Choice(["text", "json"]), help="How the log is written (default: the setting, text)."
    )(function)


def format_option(function: F) -> F:
    """--format of a reading command, and --json, a short way to ask for the format that programs use most."""
    return form_option(click.option("--json", "form", flag_value="json", help="The same as --format json.")(function))


def form_option(function: F, formats: Sequence[str] = ("table", "csv", "json")) -> F:
    """--format without --json, for a command whose --json means something else; and --lang.

    The command line itself looks for --lang among all arguments. It is an option here so that a command accepts it.
    """
    function = click.option(
        "--lang", type=click.Choice(LANGUAGES), expose_value=False,
        help="Language of headings, messages and the report (default: the setting lang, or the terminal's).",
    )(function)  # fmt: skip
    return click.option(
        "--format", "form", type=click.Choice(formats), default="table", show_default=True,
        help="How the answer is written.",
    )(function)  # fmt: skip


#: The same for a command whose answer is no table.
object_option = functools.partial(form_option, formats=("table", "json"))


def market_option(function: F) -> F:
    """--market of a reading command."""
    return click.option(
        "--market", metavar="M", expose_value=False, callback=chosen.use_market,
        help="Prices of this market: us, kr, de, eu …; or all, which alone is net of tax (default: the setting market).",
    )(function)  # fmt: skip


def currency_option(function: F) -> F:
    """--currency of a command that shows money."""
    return click.option(
        "--currency", metavar="C", expose_value=False, callback=chosen.use_currency,
        help="Read and show money in this currency: EUR, KRW … (default: USD, in every market).",
    )(function)  # fmt: skip


def as_of_option(function: F) -> F:
    """--as-of of a reading command: the answer is as it was known at the end of that day."""
    return click.option(
        "--as-of", type=day, metavar="DAY",
        help="Answer as it was known at the end of this day (UTC).",
    )(function)  # fmt: skip


def day_of(data: DataDir, as_of: datetime | None) -> date | None:
    """The day of --as-of, None if it is not given.

    A usage error for a day that has not come yet. For a day before the first run, it is said which day is the first.
    """
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
        terminal.aside(message.format(day=day, first=first))
    return day


def data_of(data_dir: str | None) -> DataDir:
    """The data directory that the option, the environment or the settings file names."""
    return settings_module.load({"data_dir": data_dir}).data()


def may_be_packaged(data: DataDir, data_dir: str | None) -> bool:
    """Whether what comes with the program may answer: nothing is published, and a folder that was named is there, so that a
    mistyped name is told from one in which no night was yet.
    """
    return not data.published.exists() and (data_dir is None or data.root.is_dir())


def read_from(data_dir: str | None, *, month_will_do: bool = False, as_one: bool = False) -> DataDir:
    """The data directory in which a reading command finds the published warehouse; `as_one` for a command that asks much of
    it: to its end all is then read of one version, which is opened once.

    If the setting `warehouse` names a publication, it is brought up to date first, once a day; at first only its open month
    for a question that it answers alone. The option --data-dir overrides that setting. A publication that has been silent is
    named on standard error. A market that the settings name and the tables were not built for counts as --market does.
    """
    settings = settings_module.load({"data_dir": data_dir})
    data = settings.data()
    if data.pulled.exists() or (settings.warehouse and data_dir is None):
        from gpuledger.flows.history import pulling

        if settings.warehouse and data_dir is None:
            data = pulling.answering(settings, month_will_do=month_will_do)
        if said := pulling.silence(data, datetime.now(UTC)):
            terminal.aside(said)
    if as_one and data.published.exists():
        from gpuledger.warehouse.read import together  # much needs no warehouse, and DuckDB takes a tenth of a second

        click.get_current_context().with_resource(together(data))
    home = (settings.market or settings.country).lower()
    if home and chosen.market() is None and data.published.exists():
        from gpuledger.transform.answers import markets

        with suppress(Failure):  # a file that cannot be read is named by what reads it
            if markets.is_another(data, home):
                chosen.take_market(home)
    return data
