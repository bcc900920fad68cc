"""The options of a command, made of the fields of the question that it asks (transform/buying/question.py)."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import click

from gpuledger.flows.doors.asking.assume import assumption
from gpuledger.flows.doors.asking.options import Amount, Paid, Whole
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.transform.buying.question import Asked

F = TypeVar("F", bound=Callable[..., Any])


#: The headings of the help of `buy` with their options. What stands under none comes last.
_GROUPS = {
    N_("The model and its use"): (
        "model", "precision", "use", "context", "users", "prompt", "answer", "kv_bits", "tokens_per_month",
        "speech_hours_per_day", "min_tokens_per_s",
    ),
    N_("Training, pictures and clips"): ("train", "train_tokens", "batch", "size", "frames", "steps"),
    N_("Money, time and place"): (
        "budget", "budget_cards", "condition", "shops", "hours_per_day", "horizon_years", "days", "country", "market",
        "currency",
    ),
    N_("What you have"): ("host", "slots", "owned", "offload", "embedding"),
}  # fmt: skip


class Grouped(click.Command):
    """A command whose help shows its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of each heading together."""
        of = {name: heading for heading, names in _GROUPS.items() for name in names}
        shown: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*_GROUPS, N_("The answer"))}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                shown[of.get(parameter.name or "", "The answer")].append(record)
        for heading, records in shown.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def question_options(question: type[Any]) -> Callable[[F], F]:
    """Adds an option for each field of a question. The command gets all of them as one argument, `question`."""

    def with_options(function: F) -> F:
        @functools.wraps(function)
        def with_question(**arguments: Any) -> Any:
            return function(question=filled(question, arguments), **arguments)

        command: Callable[..., Any] = with_question
        for option in reversed(list(_options(question))):
            command = option(command)
        return command  # type: ignore[return-value]

    return with_options


def _options(question: type[Any]) -> Iterator[Callable[[F], F]]:
    hints = get_type_hints(question)
    for field in dataclasses.fields(question):
        kind = _without_none(hints[field.name])
        if dataclasses.is_dataclass(kind):
            yield from _options(kind)  # type: ignore[arg-type]
            continue
        asked: Asked = field.metadata["asked"]
        more: dict[str, Any] = {"metavar": asked.metavar, "help": asked.help}
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            more["required"] = True
        elif field.default and isinstance(field.default, str | int):
            more |= {"default": field.default, "show_default": True}
        name = f"--{field.name.replace('_', '-')}"
        yield click.option(
            *(asked.options or (name,)),
            field.name,
            **more,
            **_kind(kind, asked),
        )


def _without_none(hint: Any) -> Any:
    """The kind of a value, if one is given."""
    # Of a Literal it is a Union of typing, of a class one of types.
    if get_origin(hint) in (types.UnionType, Union):
        return next(kind for kind in get_args(hint) if kind is not type(None))
    return hint


def _kind(kind: Any, asked: Asked) -> dict[str, Any]:
    """How click reads a value of a kind."""
    if get_origin(kind) is Literal:
        return {"type": click.Choice(list(get_args(kind)))}
    if kind is bool:
        return {"is_flag": True}
    if kind is int:
        return {"type": Whole(asked.least)}
    if kind in (float, Decimal):
        return {"type": (Paid if kind is Decimal else Amount)(asked.least or 0, min_open=asked.least is None)}
    if get_origin(kind) is Mapping:
        return {"multiple": True, "callback": lambda _context, _option, texts: dict(map(assumption, texts))}
    return {"multiple": get_origin(kind) is tuple}


def filled(question: type[Any], arguments: dict[str, Any]) -> Any:
    """The question with its values, taken out of `arguments`. A usage error for fields that contradict each other."""
    hints, values = get_type_hints(question), {}
    for field in dataclasses.fields(question):
        kind = _without_none(hints[field.name])
        if dataclasses.is_dataclass(kind):
            values[field.name] = filled(kind, arguments)  # type: ignore[arg-type]
            continue
        value = arguments.pop(field.name)
        values[field.name] = Decimal(str(value)) if kind is Decimal and value is not None else value
    for field in dataclasses.fields(question):
        asked: Asked | None = field.metadata.get("asked")
        if asked is None or values[field.name] in (None, False):
            continue
        option = f"--{field.name.replace('_', '-')}"
        if asked.needs and values[asked.needs] is None:
            message = gettext("{option} says more about --{needs}: give --{needs} too")
            raise click.UsageError(message.format(option=option, needs=asked.needs))
        if asked.instead and values[asked.instead] is not None:
            message = gettext("{option} and --{other} say the same: give one of them")
            raise click.UsageError(message.format(option=option, other=asked.instead.replace("_", "-")))
    return question(**values)
