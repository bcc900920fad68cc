"""What is said of a wrong use: the names that were probably meant, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from gpuledger.extract.spelling import names_like
from gpuledger.flows.settings import dropped
from gpuledger.flows.words.lang import gettext


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
_WRITTEN = re.compile(r"[$€£₩]?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:([kKmM]?)\b.*|(?i:usd|won|krw|원|달러))")
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


#: Options of other programs, with the option that does the same here.
_OPTIONS = {
    "--csv": "--format csv", "--table": "--format table", "-f": "--format", "-o": "--format", "--output": "--format",
    "--date": "--as-of", "--day": "--as-of", "--on": "--as-of", "--country": "--market", "--language": "--lang",
    "--dir": "--data-dir", "--tokens": "--context", "--gpus": "--count", "--days": "--since",
}  # fmt: skip
#: Names of arguments that some commands take without an option.
_BARE = ("gpu", "card", "model", "workload", "title", "query", "folder", "file", "table", "hash", "source", "name")


def _instead(option: str, command: click.Command, command_path: str) -> str:
    """What to write instead of an unknown option, or one that is gone; empty if that is not known."""
    if gone := dropped.OPTIONS.get(f"{command_path.partition(' ')[2]} {option}"):
        return f"; it is gone: {gone}"
    meant = _OPTIONS.get(option, "")
    if meant and any(meant.partition(" ")[0] in parameter.opts for parameter in command.params):
        return f"; {did_you_mean([meant])}"
    if re.fullmatch(r"-[\d.,]+", option):
        return gettext("; a number below zero is no amount here")
    names = {
        parameter.human_readable_name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    }
    # --gpu is also the argument CARD.
    word = option.lstrip("-")
    meant_words = (word, {"gpu": "card", "card": "gpu"}.get(word))
    bare = next((name for name in names if name.lower() in _BARE and name.lower() in meant_words), None)
    if bare is None:
        return ""
    return gettext("; {name} stands without an option: `{command} {name}`").format(name=bare, command=command_path)


def _of_the_commands(option: str, group: click.Group, context: click.Context) -> bool:
    """Whether an option that was given before the command belongs behind it, as an option of commands."""
    commands = (group.get_command(context, name) for name in ("price", "refresh"))
    return any(option in parameter.opts for command in commands if command is not None for parameter in command.params)


def _too_much(error: click.UsageError, command: click.Command) -> str:
    """What to do about extra words: they may be parts of one name, a workload, an amount or another card."""
    arguments = [parameter.human_readable_name for parameter in command.params if isinstance(parameter, click.Argument)]
    extra = error.message.partition("(")[2].rstrip(")")
    path = error.ctx.command_path if error.ctx else ""
    if not arguments:
        return gettext("; `{command}` takes no name").format(command=path)
    options = {option for parameter in command.params for option in parameter.opts}
    if "--below" in options and re.fullmatch(r"[$€£₩]?\d[\d.,]*", extra):
        return gettext("; an amount goes behind {option}").format(option="--below")
    if arguments == ["WORKLOAD"] and "-" in extra:
        return gettext("; {name} stands alone: `{command} {name}`").format(name="WORKLOAD", command=path)
    if arguments in (["CARD"], ["GPU"]) and re.fullmatch(r"[A-Za-z]{0,3} ?\d{4}\w*( .*)?", extra):
        return gettext('; one card at a time; a name of several words goes between quotes: "rtx 4090"')
    return gettext('; a name of several words goes between quotes: "rtx 4090"')


def remedy(error: click.UsageError) -> str:
    """The advice after a usage error of click itself, for example which command lists the missing name, or how to quote."""
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
        if instead := dropped.COMMANDS.get(f"{error.ctx.info_name} {error.command_name}"):
            return f"; it is gone: {instead}"
        return gettext("; there are {names}").format(names=", ".join(command.list_commands(error.ctx)))
    if "unexpected extra argument" in error.message and command is not None:
        if error.ctx is not None and error.ctx.info_name == "sql":
            return gettext('; the query goes between quotes: "FROM value"')
        return _too_much(error, command)
    return ""
