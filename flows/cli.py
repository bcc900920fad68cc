"""The command line. Each command is a module in `flows/commands/`, imported only when it is called: a reading command must
answer at once, and importing Prefect, Great Expectations or pandas takes seconds.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import logging
import os
import pkgutil
import sys
import threading
from contextlib import suppress
from typing import Any, NoReturn

import click

from gpuledger import __version__
from gpuledger.flows import commands
from gpuledger.flows.setup import lang, parts
from gpuledger.flows.setup.languages import LANGUAGES


class _Commands(click.Group):
    """Finds the commands by the names of the modules; there is no list to keep."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (info.name for info in pkgutil.iter_modules(commands.__path__))
        return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"gpuledger.flows.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            if not parts.is_of_nightly(error):
                raise
            raise parts.NotInstalled(str(ctx.invoked_subcommand)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option(
    "--lang", type=click.Choice(LANGUAGES), is_eager=True, expose_value=False,
    callback=lambda ctx, option, language: lang.use(language),
    help="Language of headings, messages and the report (default: the setting lang, en).",
)  # fmt: skip
def cli() -> None:
    """Which GPU to buy or rent to run a model, at today's price, with the evidence."""


def main() -> None:
    """Run the command line, and leave without taking apart what was imported: after Great Expectations that is most of a
    second, in which nothing happens that anybody waits for. Prefect has a server to stop and events to send: it is given its
    turn as Python would, but Python's own end is not waited for, which aborts where a thread that overran its deadline is
    still in foreign code ("exception not rethrown").
    """
    # A command makes many objects that stay, its modules first, and few that refer to each other in a circle: Python's own
    # 700 has it look through them hundreds of times, a twentieth of a refresh.
    gc.set_threshold(50_000)
    try:
        call()
    except SystemExit as leaving:
        if "prefect" in sys.modules:
            getattr(threading, "_shutdown")()  # noqa: B009 - has no public name, and is what Python calls first
            atexit._run_exitfuncs()
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with suppress(BrokenPipeError):  # a reader such as `head` has seen enough
                stream.flush()
        os._exit(leaving.code if isinstance(leaving.code, int) else 1)


def call() -> NoReturn:
    """Run the command line; every expected error is one line on stderr and a status, never a traceback."""
    from gpuledger.expectations.errors import ExpectationsError
    from gpuledger.extract.errors import ExtractError
    from gpuledger.flows.setup.settings import SettingsError
    from gpuledger.warehouse.errors import BadQuery, WarehouseError

    try:
        status = cli.main(prog_name="gpuledger", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("stopped", err=True)
        sys.exit(130)
    except (SettingsError, BadQuery) as error:
        click.echo(f"gpuledger: {error}", err=True)
        sys.exit(2)
    except (WarehouseError, ExpectationsError, ExtractError, OSError, parts.NotInstalled) as error:
        click.echo(f"gpuledger: {_words(error)}", err=True)
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)


def _words(error: Exception) -> str:
    """An operating system's error says what and where; the others have their own sentence."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}; choose another --data-dir or mend its permissions"
    return str(error)


if __name__ == "__main__":
    main()
