"""Tools for agents made of commands: the arguments are the command's options, and the answer is what it gives programs."""

from __future__ import annotations

import functools
import inspect
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

    tool.__name__, tool.__doc__ = name, command.help
    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_as_argument(name, parameter) for name, parameter in parameters.items()], return_annotation=dict[str, Any]
    )
    return tool


def answer_of(command: click.Command, words: Sequence[str]) -> tuple[Any, str]:
    """What the command answers to programs, and why there is no row if there is none. Raises click's errors for wrong
    arguments, as the command line does.
    """
    with command.make_context(str(command.name), [*words], obj=terminal.Collected()) as context:
        command.invoke(context)
        return context.obj.answer, context.obj.why_nothing


def _parameters(command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
    for parameter in command.params:
        if parameter.name not in _LEFT_OUT:
            longest = next((one for one in parameter.opts if one.startswith("--")), parameter.name or "")
            yield longest.removeprefix("--").replace("-", "_"), parameter


def _as_argument(name: str, parameter: click.Parameter) -> inspect.Parameter:
    from pydantic import Field

    kind: Any = str | int | float
    if isinstance(parameter.type, click.IntRange | click.FloatRange):
        kind = int if isinstance(parameter.type, click.IntRange) else float
    elif isinstance(parameter.type, click.Choice):
        kind = Literal[tuple(parameter.type.choices)]
    elif isinstance(parameter, click.Option) and parameter.is_flag:
        kind = bool
    if parameter.multiple or parameter.nargs != 1:
        kind = list[kind]
    help_ = parameter.help if isinstance(parameter, click.Option) else _ARGUMENTS[name]
    if isinstance(parameter, click.Argument) and name == "card" and parameter.required:
        help_ = CARD
    described = Field(alias=name, description=help_)
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
