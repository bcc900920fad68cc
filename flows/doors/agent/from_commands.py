"""Tools for agents made of commands: the arguments are the command's options, and the answer is what it gives programs."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal

import click

from gpuledger.flows.doors.showing import terminal

#: Options that choose where to read and how to write, open a file or keep something, which an agent does not.
_LEFT_OUT = {"data_dir", "form", "lang", "help", "config", "everything", "prometheus", "save"}

CARD = 'A card as shops and tables name it: "rtx 4090", "3090 24GB", "A100 SXM 80GB".'
#: What the arguments of commands mean that have no name there, and so no help.
_ARGUMENTS = {
    "card": f"{CARD} Without it all; of several names a comma stands between them.",
    "model": "A model by an id of the catalogue: qwen3-32b, gpt-oss-20b, flux.1-dev.",
    "table": 'A table such as "mart.value", or "assumptions". Without it the list of all.',
    "workload": "A workload by an id or a title that `workloads` lists.",
}


#: The tools that are made of commands, by name, each with its command.
MADE = {
    name: name
    for name in (
        "workloads", "rank", "value", "price", "buy", "predict", "size", "show", "changes", "status", "describe",
    )
} | {"models": "model list"}  # fmt: skip
_SPOKEN = re.compile(r"`gpuledger ([^`]*)`|(?<![\w`-])--([a-z][a-z-]*[a-z])")


def in_words_of_tools(text: str) -> str:
    """A text of the command line as an agent calls things: `buy` for `gpuledger buy …`, `host` for --host. A command that
    is no tool stays: its owner types it.
    """

    def named(match: re.Match[str]) -> str:
        if match[2]:
            return f"`{match[2].replace('-', '_')}`"
        tool = next((name for name, command in MADE.items() if f"{match[1]} ".startswith(f"{command} ")), None)
        return match[0] if tool is None else f"`{tool}`"

    return _SPOKEN.sub(named, text)


def tool_of(
    name: str, command: click.Command, ask: Callable[[Sequence[str], dict[str, Any]], Any]
) -> Callable[..., Any]:
    """The function with the arguments of `command` by their long names, as a server of tools reads it.

    Called, it hands `ask` the command line that its arguments make, and the arguments themselves.
    """
    parameters = dict(_parameters(command))

    def tool(**given: Any) -> Any:
        given = {name: value for name, value in given.items() if value is not None and value is not False}
        return ask([*_words(parameters, given)], given)

    tool.__name__, tool.__doc__ = name, in_words_of_tools(command.help or "")
    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_as_argument(name, parameter) for name, parameter in parameters.items()], return_annotation=dict[str, Any]
    )
    return tool


def answer_of(commands: click.Group, words: Sequence[str]) -> tuple[Any, str]:
    """What a command line answers to programs, and what it says beside. Raises the command line's errors."""
    with commands.make_context("gpuledger", [*words], obj=terminal.Collected()) as context:
        commands.invoke(context)
        return context.obj.answer, "; ".join(context.obj.beside)


def _parameters(command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
    for parameter in command.params:
        if parameter.name not in _LEFT_OUT:
            longest = next((one for one in parameter.opts if one.startswith("--")), parameter.name or "")
            yield longest.removeprefix("--").replace("-", "_"), parameter


def _as_argument(name: str, parameter: click.Parameter) -> inspect.Parameter:
    from pydantic import Field

    # What is no number is told by the command line, with the number that was probably meant.
    kind: Any = str | int | float
    if isinstance(parameter.type, click.IntRange | click.FloatRange):
        kind = (int if isinstance(parameter.type, click.IntRange) else float) | str
    elif isinstance(parameter.type, click.Choice):
        kind = Literal[tuple(parameter.type.choices)]
    elif isinstance(parameter, click.Option) and parameter.is_flag:
        kind = bool
    if parameter.multiple or parameter.nargs != 1:
        kind = list[kind] | kind
    help_ = parameter.help if isinstance(parameter, click.Option) else _ARGUMENTS[name]
    if isinstance(parameter, click.Argument) and name == "card" and parameter.required:
        help_ = CARD
    described = Field(alias=name, description=in_words_of_tools(help_ or ""))
    # An argument may be called as a word of Python (`for`): only its alias is.
    as_argument = functools.partial(inspect.Parameter, f"{name}_", inspect.Parameter.KEYWORD_ONLY)
    # Without a model `size` wants a file, which no agent has.
    if parameter.required or (name == "model" and isinstance(parameter, click.Argument)):
        return as_argument(annotation=Annotated[kind, described])
    return as_argument(annotation=Annotated[kind | None, described], default=None)


def _words(parameters: dict[str, click.Parameter], given: dict[str, Any]) -> Iterator[str]:
    """The command line of arguments: options first, and behind `--` what has no name."""
    unnamed = list[str]()
    for name, value in given.items():
        parameter = parameters[name]
        values = value if isinstance(value, list) else [value]
        if isinstance(parameter, click.Argument):
            unnamed += map(str, values)
        elif value is True:
            yield parameter.opts[0]
        else:
            option = f"--{name.replace('_', '-')}"
            yield from (f"{option}={one}" for one in values)
    if unnamed:
        yield from ("--", *unnamed)
