"""What is said of a wrong use: the names that were probably meant, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from gpuledger.flows.settings import dropped
from gpuledger.flows.words.lang import gettext
from gpuledger.spelling import names_like


def unknown(message: str, word: str, known: Iterable[str], more: str = "") -> str:
    """`message`, then the known names that are close to `word`, or all of them if none is close.

    `more` is a command that lists all names; it is named after the close names.
    """
    names = list(known)
    if close := names_like(word, names):
        text = f"{message}; {did_you_mean(close)}"
        return f"{text} {gettext('`{command}` lists all').format(command=more)}" if more else text
    return f"{message}; {gettext('known are {names}').format(names=', '.join(names))}"


def did_you_mean(names: Iterable[str]) -> str:
    """`did you mean a or b?`"""
    return gettext("did you mean {names}?").format(names=f" {gettext('or')} ".join(names))


def no_source(names: Iterable[str], known: Iterable[str]) -> str:
    """The message about names that are no source's."""
    wrong = list(names)
    if instead := dropped.SOURCES.get(wrong[0]):
        return f"the source {wrong[0]} is gone: {instead}"
    message = gettext("no source is called {names}").format(names=", ".join(wrong))
    return unknown(message, wrong[0], known, "gpuledger sources")


def no_command(name: str, known: Iterable[str]) -> str:
    """The message about an unknown command, or one that is gone."""
    if instead := dropped.COMMANDS.get(name):
        return f"`gpuledger {name}` is gone: {instead}"
    message = gettext("no command is called {name!r}").format(name=name)
    meant = names_like(name, list(known))
    listed = gettext("`{command}` lists all").format(command="gpuledger --help")
    return (
        f"{message}; {did_you_mean(f'`gpuledger {command}`' for command in meant)} {listed}"
        if meant
        else f"{message}; {listed}"
    )


#: The command that lists the possible values, by the name of an argument or option.
_LISTED_BY = {
    "workload": "workloads", "model_id": "model list", "model": "model list", "source": "sources", "gpu_id": "show CARD",
}  # fmt: skip


#: A number as people write one: `2k`, `$2,000`, `8K`, `1.5M`, `20 tokens/s`.
_WRITTEN = re.compile(r"\D?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:([kKmM]?)\b.*|달러)")
_EXPONENT = re.compile(r"\d+(?:\.\d+)?[eE]\d")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}
_NO_NUMBER = re.compile(r"'(.*)' is not a valid (?:integer|float)(?: range)?\.", re.DOTALL)


def no_number(error: click.UsageError) -> str | None:
    """The message about a text that is no number, with the number that was probably meant; None for other errors."""
    match = _NO_NUMBER.fullmatch(error.message)
    if match is None:
        return None
    message = gettext("{value!r} is no number").format(value=match[1])
    if _EXPONENT.fullmatch(match[1].strip()):
        return f"{message}; {did_you_mean([f'{float(match[1]):.15g}'])}"
    written = _WRITTEN.fullmatch(match[1].strip())
    if written is None:
        return message
    times = _TIMES[(written[2] or "").lower()]
    if isinstance(error, click.BadParameter) and error.param is not None and error.param.name == "context":
        times = {1_000: 1_024}.get(times, times)  # tokens of a context are counted so: 8K are 8192
    number = float(written[1].replace(",", "")) * times
    return f"{message}; {did_you_mean([f'{number:.15g}'])}"


def remedy(error: click.UsageError) -> str:
    """The advice after a usage error of click itself: which command lists the missing name, what is gone, how to quote."""
    command = error.ctx.command if error.ctx else None
    path = error.ctx.command_path if error.ctx else ""
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name in _LISTED_BY:
        is_text = error.param.name == "source" and isinstance(error.param, click.Option)
        listed = gettext("; `{command}` lists all").format(command=f"gpuledger {_LISTED_BY[error.param.name]}")
        return "" if is_text else listed
    if isinstance(error, click.NoSuchOption):
        gone = dropped.OPTIONS.get(f"{path.partition(' ')[2]} {error.option_name}")
        return f"; it is gone: {gone}" if gone else ""
    if isinstance(error, click.exceptions.NoSuchCommand) and isinstance(command, click.Group) and error.ctx:
        if instead := dropped.COMMANDS.get(f"{error.ctx.info_name} {error.command_name}"):
            return f"; it is gone: {instead}"
        return gettext("; there are {names}").format(names=", ".join(command.list_commands(error.ctx)))
    if "unexpected extra argument" in error.message and command is not None:
        if not any(isinstance(parameter, click.Argument) for parameter in command.params):
            return gettext("; `{command}` takes no name").format(command=path)
        return gettext('; a name or a query of several words goes between quotes: "rtx 4090"')
    return ""
