"""What is said of a name that nobody knows: the names that were probably meant, or else all that there are."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from gpuledger.extract.near import near
from gpuledger.flows.setup.lang import gettext


def unknown(message: str, word: str, known: Iterable[str], more: str = "") -> str:
    """`message`, then the known names that are near to `word`; all of them where none is.

    `more` is a command that lists them: with near names it stands for the rest.
    """
    names = list(known)
    if close := near(word, names):
        text = f"{message}; {did_you_mean(close)}"
        return f"{text} {gettext('`{command}` lists all').format(command=more)}" if more else text
    return f"{message}; {gettext('known are {names}').format(names=', '.join(names))}"


def did_you_mean(names: Iterable[str]) -> str:
    """`did you mean a or b?`"""
    return gettext("did you mean {names}?").format(names=f" {gettext('or')} ".join(names))


def no_source(asked: Iterable[str], known: Iterable[str]) -> str:
    """What is said of names of sources that are none."""
    wrong = list(asked)
    message = gettext("no source is called {names}").format(names=", ".join(wrong))
    return unknown(message, wrong[0], known, "gpuledger sources")


#: What people type who know other programs, by the command that does it here.
_COMMANDS = {
    "update": "refresh --sample", "run": "refresh --sample", "fetch": "refresh --sample", "init": "refresh --sample",
    "setup": "refresh --sample", "demo": "refresh --sample", "crawl": "refresh --sample", "load": "refresh --sample",
    "ls": "sources", "list": "sources", "shops": "sources", "tables": "describe", "schema": "describe",
    "columns": "describe", "search": "resolve", "find": "show", "card": "show", "gpu": "show", "info": "show",
    "cost": "price", "prices": "price", "cheapest": "price", "offers": "show", "history": "changes",
    "diff": "changes", "best": "value", "ranking": "rank", "compare": "rank", "recommend": "buy", "rent": "buy",
    "config": "settings", "set": "settings", "query": "sql", "select": "sql", "html": "report", "dashboard": "report",
    "xlsx": "export --format xlsx", "excel": "export --format xlsx", "csv": "export",
    "parquet": "export --format parquet", "check": "doctor", "health": "status", "undo": "restore",
    "schedule": "serve", "cron": "serve", "daemon": "serve", "benchmarks": "workloads", "models": "model list",
    "fit": "predict", "speed": "predict", "memory": "size", "alert": "watch", "notify": "watch", "clean": "vacuum",
    "source": "sources", "page": "evidence", "quote": "quotes", "price-history": "changes",
}  # fmt: skip


def no_command(name: str, known: Iterable[str]) -> str:
    """What is said of a command that is none."""
    names = list(known)
    message = gettext("no command is called {name!r}").format(name=name)
    meant = [_COMMANDS[name.lower()]] if name.lower() in _COMMANDS else near(name, names)
    listed = gettext("`{command}` lists all").format(command="gpuledger --help")
    return (
        f"{message}; {did_you_mean(f'`gpuledger {one}`' for one in meant)} {listed}"
        if meant
        else f"{message}; {listed}"
    )


#: Which command lists what an argument or option names.
_LISTED_BY = {
    "workload": "workloads", "model_id": "model list", "model": "model list", "source": "sources", "gpu_id": "show CARD",
}  # fmt: skip


#: A number as people write one: `2k`, `$2,000`, `8K`, `1.5M`, `20 tokens/s`.
_WRITTEN = re.compile(r"[$€£₩]?\s*(\d[\d,]*(?:\.\d+)?)\s*([kKmM]?)\b.*")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}
_NO_NUMBER = re.compile(r"'(.*)' is not a valid (?:integer|float)(?: range)?\.", re.DOTALL)


def no_number(error: click.UsageError) -> str | None:
    """What is said of a number that is none, with the one that was probably meant; None for every other error."""
    found = _NO_NUMBER.fullmatch(error.message)
    if found is None:
        return None
    said = gettext("{value!r} is no number").format(value=found[1])
    written = _WRITTEN.fullmatch(found[1].strip())
    if written is None:
        return said
    number = float(written[1].replace(",", "")) * _TIMES[written[2].lower()]
    return f"{said}; {did_you_mean([f'{number:.15g}'])}"


def way_out(error: click.UsageError) -> str:
    """What a usage error of the parser itself is followed by: where the missing name is found, or how two words are one."""
    command = error.ctx.command if error.ctx else None
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name in _LISTED_BY:
        return gettext("; `{command}` lists all").format(command=f"gpuledger {_LISTED_BY[error.param.name]}")
    if "unexpected extra argument" in error.message and command is not None:
        if any(isinstance(one, click.Argument) for one in command.params):
            return gettext('; a name of several words goes between quotes: "rtx 4090"')
        return gettext("; `{command}` takes no name").format(command=f"{error.ctx.command_path}" if error.ctx else "")
    return ""
