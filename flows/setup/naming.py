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
_WRITTEN = re.compile(r"[$€£₩]?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:([kKmM]?)\b.*|(?i:usd|won|krw|원|달러))")
_EXPONENT = re.compile(r"\d+(?:\.\d+)?[eE]\d")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}
_NO_NUMBER = re.compile(r"'(.*)' is not a valid (?:integer|float)(?: range)?\.", re.DOTALL)


def no_number(error: click.UsageError) -> str | None:
    """What is said of a number that is none, with the one that was probably meant; None for every other error."""
    found = _NO_NUMBER.fullmatch(error.message)
    if found is None:
        return None
    said = gettext("{value!r} is no number").format(value=found[1])
    if _EXPONENT.fullmatch(found[1].strip()):
        return f"{said}; {did_you_mean([f'{float(found[1]):.15g}'])}"
    written = _WRITTEN.fullmatch(found[1].strip())
    if written is None:
        return said
    times = _TIMES[(written[2] or "").lower()]
    if isinstance(error, click.BadParameter) and error.param is not None and error.param.name == "context":
        times = {1_000: 1_024}.get(times, times)  # models count their tokens so: 8K are 8192
    number = float(written[1].replace(",", "")) * times
    return f"{said}; {did_you_mean([f'{number:.15g}'])}"


#: What other programs call an option, by what does it here.
_OPTIONS = {
    "--csv": "--format csv", "--table": "--format table", "-f": "--format", "-o": "--format", "--output": "--format",
    "--date": "--as-of", "--day": "--as-of", "--on": "--as-of", "--country": "--market", "--language": "--lang",
    "--dir": "--data-dir", "--tokens": "--context", "--gpus": "--count", "--days": "--since",
}  # fmt: skip
#: What stands on the command line without an option's name, where a command takes it so.
_BARE = ("gpu", "card", "model", "workload", "title", "query", "folder", "file", "table", "hash", "source", "name")


def _instead(option: str, command: click.Command, words: str) -> str:
    """What does what an option that is none was meant to do; empty where that is not known."""
    meant = _OPTIONS.get(option, "")
    if meant and any(meant.partition(" ")[0] in one.opts for one in command.params):
        return f"; {did_you_mean([meant])}"
    if re.fullmatch(r"-[\d.,]+", option):
        return gettext("; a number below zero is no amount here")
    names = {one.human_readable_name: one for one in command.params if isinstance(one, click.Argument)}
    bare = next((name for name in names if _is_bare(name.lower(), option.lstrip("-"))), None)
    if bare is None:
        return ""
    return gettext("; {name} stands without an option: `{command} {name}`").format(name=bare, command=words)


def _is_bare(name: str, option: str) -> bool:
    """Whether an option names what the command takes without one: --gpu is CARD too."""
    return name in _BARE and name in (option, {"gpu": "card", "card": "gpu"}.get(option))


def _of_the_commands(option: str, group: click.Group, context: click.Context) -> bool:
    """Whether an option stands before the command, and is one of commands."""
    commands = (group.get_command(context, name) for name in ("price", "refresh"))
    return any(option in one.opts for command in commands if command is not None for one in command.params)


def _too_much(error: click.UsageError, command: click.Command) -> str:
    """What is said of words that a command does not take: they may be one name, a workload, an amount or another card."""
    arguments = [one.human_readable_name for one in command.params if isinstance(one, click.Argument)]
    extra = error.message.partition("(")[2].rstrip(")")
    path = error.ctx.command_path if error.ctx else ""
    if not arguments:
        return gettext("; `{command}` takes no name").format(command=path)
    options = {option for one in command.params for option in one.opts}
    if "--below" in options and re.fullmatch(r"[$€£₩]?\d[\d.,]*", extra):
        return gettext("; an amount goes behind {option}").format(option="--below")
    if arguments == ["WORKLOAD"] and "-" in extra:
        return gettext("; {name} stands alone: `{command} {name}`").format(name="WORKLOAD", command=path)
    if arguments in (["CARD"], ["GPU"]) and re.fullmatch(r"[A-Za-z]{0,3} ?\d{4}\w*( .*)?", extra):
        return gettext('; one card at a time; a name of several words goes between quotes: "rtx 4090"')
    return gettext('; a name of several words goes between quotes: "rtx 4090"')


def way_out(error: click.UsageError) -> str:
    """What a usage error of the parser itself is followed by: where the missing name is found, or how two words are one."""
    command = error.ctx.command if error.ctx else None
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name in _LISTED_BY:
        is_text = error.param.name == "source" and isinstance(error.param, click.Option)
        listed = gettext("; `{command}` lists all").format(command=f"gpuledger {_LISTED_BY[error.param.name]}")
        return "" if is_text else listed
    if isinstance(error, click.NoSuchOption) and command is not None:
        if isinstance(command, click.Group) and error.ctx and _of_the_commands(error.option_name, command, error.ctx):
            return gettext("; it goes behind the command: `gpuledger price {option} …`").format(
                option=error.option_name
            )
        return _instead(error.option_name, command, error.ctx.command_path if error.ctx else "")
    if isinstance(error, click.exceptions.NoSuchCommand) and isinstance(command, click.Group) and error.ctx:
        return gettext("; there are {names}").format(names=", ".join(command.list_commands(error.ctx)))
    if "unexpected extra argument" in error.message and command is not None:
        if error.ctx is not None and error.ctx.info_name == "sql":
            return gettext('; the query goes between quotes: "FROM value"')
        return _too_much(error, command)
    return ""
