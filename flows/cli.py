"""The command line, and its help in the language in use.

Each command is a module in `flows/commands/`, which is imported only when the command is called: a reading command must
answer at once, and importing Prefect, Great Expectations or pandas takes seconds.

Click takes the texts of the help from docstrings and `help=`. Each paragraph of them is a message of the translation
catalogue. Lines are broken here and not by click, which counts letters: a Korean letter takes two cells of the terminal.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pkgutil
import re
import resource
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import click

from gpuledger import __version__
from gpuledger.flows import commands
from gpuledger.flows.doors.showing import chosen
from gpuledger.flows.doors.showing.table import cell_width, wrapped
from gpuledger.flows.doors.showing.terminal import clean_streams
from gpuledger.flows.settings import settings
from gpuledger.flows.words import lang, wrong_use
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.flows.words.say import failure, say
from gpuledger.message import LANGUAGES, Failure, Message

#: Click's mark for a paragraph whose lines stay as they are, such as an example.
_AS_IT_IS = "\b"
#: The text of an option with what click puts behind it: "[default: 10; 0<=x<=20; required]".
_EXTRA = re.compile(r"(?:(?P<text>.*)  )?\[(?P<extra>[^\]]+)\]", re.DOTALL)


class _Formatter(click.HelpFormatter):
    """Click's layout, with the words of the language in use."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        heading = prefix or gettext("Usage") + ": "
        full_width = self.width
        self.width -= cell_width(heading) - len(heading)
        super().write_usage(prog, args, heading)
        self.width = full_width

    def write_heading(self, heading: str) -> None:
        super().write_heading(gettext(heading))

    def write_text(self, text: str) -> None:
        width = self.width - self.current_indent
        super().write_text("\n\n".join(_lines(paragraph, width) for paragraph in text.split("\n\n")))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        listed = list(rows)
        first = min(max(len(name) for name, _ in listed), col_max) + col_spacing
        width = max(self.width - first - self.current_indent, 10)
        super().write_dl([(name, _row(text, width)) for name, text in listed], col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


def in_the_language(command: click.Command) -> click.Command:
    """Make the help of `command`, and of all commands below it, appear in the language in use. Returns `command`.

    A list of commands shows the first paragraph of each, which is one sentence. Click alone would cut it at the end of the
    line.
    """
    command.context_class = _Context
    command.short_help = _one_line((command.help or "").partition("\n\n")[0])
    if isinstance(command, click.Group):
        for below in command.commands.values():
            in_the_language(below)
    return command


def _lines(paragraph: str, width: int) -> str:
    if paragraph.startswith(_AS_IT_IS):
        return paragraph
    return f"{_AS_IT_IS}\n{wrapped(gettext(_one_line(paragraph)), width)}"


def _row(text: str, width: int) -> str:
    match = _EXTRA.fullmatch(text)
    translated = gettext(_one_line(match["text"] or "" if match else text))
    extra = "; ".join(map(_extra, match["extra"].split("; "))) if match else ""
    return _AS_IT_IS + "\n" + wrapped(f"{translated} [{extra}]" if extra else translated, width)


def _extra(text: str) -> str:
    """One note on an option, translated: its default, that it is required, or its range, which has no words to translate."""
    name, _, value = text.partition(": ")
    if value and name == "default":
        return gettext("default: {default}").format(default=value)
    return gettext("required") if text == "required" else text


def _one_line(text: str) -> str:
    return " ".join(text.split())


#: Least address space [MB] that a command begins with. Within 700 MB DuckDB ends by a signal, and within 1,100 Python cannot
#: start its threads. `buy` took the most, 1,586 MB with 16 threads of DuckDB (measured 2026-11-25).
LEAST_MB = 1_600


#: The headings of the help with their commands. What stands under none comes last, so a new command needs no line here.
_GROUPS = {
    N_("Ask what to buy"): ("buy", "predict", "size", "watch"),
    N_("Prices and speeds"): (
        "price",
        "value",
        "rank",
        "show",
        "changes",
        "workloads",
        "sql",
        "describe",
        "report",
        "export",
    ),
    N_("The evidence"): ("evidence", "audit", "resolve", "parse"),
    N_("Every night"): ("refresh", "serve", "status", "doctor", "sources", "release", "settings"),
    N_("Your own data"): ("quotes", "measure", "model", "gpu", "workload", "alias", "backfill", "new-source"),
}


class _Commands(click.Group):
    """Finds the commands by the names of their modules."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        named = {name for names in _GROUPS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in named)
        for heading, names in (*_GROUPS.items(), (N_("Upkeep and programs"), others)):
            found = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
            with formatter.section(heading):
                formatter.write_dl([(name, command.get_short_help_str()) for name, command in found])

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (info.name for info in pkgutil.iter_modules(commands.__path__))
        return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"gpuledger.flows.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return in_the_language(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(wrong_use.no_command(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        lang.use(_language(args))  # before click answers --help or reports a fault
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            behind = gettext("; options go behind the command: `gpuledger price --json`")
            raise click.UsageError(error.format_message().rstrip(".") + behind, error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return self._invoke(ctx)
        finally:
            for sentence in [*settings.left_out(), *settings.GONE.values()]:
                click.echo(sentence, err=True)
            settings.IGNORED.clear()

    def _invoke(self, ctx: click.Context) -> Any:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY and limit < LEAST_MB * 1_000_000:
            raise click.ClickException(say(Message(
                "this process may have {limit:,.0f} MB of address space, and a command needs up to {least:,.0f}: "
                "raise the limit (`ulimit -v`, or LimitAS of the service), or lift it; to bound the memory itself, "
                "set memory_limit", limit=limit / 1e6, least=LEAST_MB,
            )))  # fmt: skip
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if (message := wrong_use.no_number(error)) is not None and isinstance(error, click.BadParameter):
                raise click.BadParameter(message, error.ctx, error.param, error.param_hint) from None
            if remedy := wrong_use.remedy(error):
                message_of_click = error.message if isinstance(error, click.NoSuchOption) else error.format_message()
                raise click.UsageError(message_of_click.rstrip(".") + remedy, error.ctx) from None
            raise
        except ModuleNotFoundError as error:
            from gpuledger.flows.settings import parts

            part = parts.part_of(error)
            if part is None:
                raise
            raise parts.NotInstalled(str(ctx.invoked_subcommand), part) from error


def _language(arguments: list[str]) -> str | None:
    """The language that --lang names in the arguments of a command line, None if there is no such option."""
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        option, has_value, value = argument.partition("=")
        language = value if has_value else following
        if option == "--lang" and language in LANGUAGES:
            return language
    return None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option(
    "--lang", type=click.Choice(LANGUAGES), expose_value=False,
    help="Language of headings, messages and the report (default: the setting lang, or the terminal's).",
)  # fmt: skip
@click.option(
    "--market",
    metavar="M",
    expose_value=False,
    callback=chosen.use_market,
    help="Prices of this market: us, kr, de, eu …; or all, which alone is net of tax.",
)
@click.option(
    "--currency", metavar="C", expose_value=False, callback=chosen.use_currency,
    help="Show money in this currency: EUR, KRW …",
)  # fmt: skip
def cli() -> None:
    """Which GPU to buy or rent to run a model, at today's price, with the evidence."""


in_the_language(cli)


def main() -> None:
    """Run the command line, and end the process without letting Python take the imported modules apart.

    Taking them apart needs 0.8 s once Great Expectations is imported, and nobody needs its result. It would also abort the
    process ("exception not rethrown") if a notification that overran its deadline is still inside foreign code, for example
    asking Prefect for a block: a run that was published would then end with status -6.
    """
    status = 1
    clean_streams()
    # With this variable set, libraries write their TLS keys to a file. Whoever reads that file can decrypt all traffic of
    # this process, including notifications and the keys in them.
    os.environ.pop("SSLKEYLOGFILE", None)

    def leave() -> None:
        # Not imported here: with too little memory left, the import would fail in this callback.
        if logging := sys.modules.get("logging"):
            logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                # A reader such as `head` has closed the pipe. Python would try to flush again at its end, and complain.
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        os._exit(status)

    # The function that is registered first is called last: by then Prefect has stopped its server and sent its events.
    atexit.register(leave)
    try:
        call()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 1
        raise


def call() -> NoReturn:
    """Run the command line. Every expected error becomes one line on stderr and an exit status, never a traceback."""
    try:
        status = cli.main(prog_name="gpuledger", standalone_mode=False)
    except click.ClickException as error:
        _show(error)
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo(gettext("stopped"), err=True)
        sys.exit(130)
    except (Failure, OSError) as error:
        click.echo(f"gpuledger: {failure(error)}", err=True)
        sys.exit(error.status if isinstance(error, Failure) else 1)
    sys.exit(status if isinstance(status, int) else 0)


def _show(error: click.ClickException) -> None:
    """Print the error in the layout of click, in the language in use."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()  # the help itself
        return
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        click.echo(context.get_usage(), err=True)
        click.echo(gettext("Try '{command} --help' for help.").format(command=context.command_path) + "\n", err=True)
    click.echo(gettext("Error: {message}").format(message=error.format_message()), err=True)


if __name__ == "__main__":
    main()
