"""Options on how a model is used, and --assume NAME=VALUE, which for one answer overrides an assumption."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from gpuledger.flows.asking.options import Whole
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption

F = TypeVar("F", bound=Callable[..., Any])


def assume_option(function: F) -> F:
    """The option --assume, which may be given several times."""
    return click.option(
        "--assume", "assumed", multiple=True, metavar="NAME=VALUE",
        help="Another value of one assumption (`gpuledger describe assumptions` lists them).",
    )(function)  # fmt: skip


explain_option = click.option(
    "--explain", is_flag=True, help="Each figure as arithmetic, to the last step, with its sources."
)


def assumption(text: str) -> tuple[str, str]:
    """The name and the value in a text of the option --assume. A usage error if the text has no `=`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--assume needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def with_texts(base: Assumptions, texts: dict[str, str]) -> Assumptions:
    """`base` with some values replaced, which are given as text. A usage error for an impossible value."""
    try:
        return base.with_text(texts)
    except ImpossibleAssumption as error:
        raise click.UsageError(say(error)) from None


def of_settings(assumed: Iterable[str]) -> Assumptions:
    """The assumptions of this machine's settings, overridden by the values of the option --assume.

    A usage error for an unknown name or an impossible value.
    """
    return with_texts(settings_module.load({}).assumptions, dict(assumption(text) for text in assumed))


#: Bits of a cached value, by the names that programs give the formats. Those of llama.cpp have a 16-bit scale for each 32
#: values.
_KV_BITS = {
    "16": "16", "8.5": "8.5", "8": "8", "4.5": "4.5", "4": "4", "f16": "16", "q8_0": "8.5", "fp8": "8", "q4_0": "4.5",
}  # fmt: skip


def serving_options(function: F) -> F:
    """Adds the options --kv-bits, --offload, --embedding, --train, --train-tokens and --batch.

    The command gets all options on how the model is used as one argument `load`, a need.Usage. It combines these options
    with the command's own options context, users, prompt and answer. Only the bits of the cache stay an argument of their
    own, `kv_bits`, because they are an assumption.
    """

    @functools.wraps(function)
    def with_load(**arguments: Any) -> Any:
        from gpuledger.transform.buying.need import Usage

        usage = {name: arguments.pop(name) for name in Usage.__annotations__ if name in arguments}
        if usage["train_tokens"] is not None and usage["train"] is None:
            raise click.UsageError(gettext("--train-tokens is about a training: give --train too"))
        return function(load=Usage(**usage), **arguments)

    command: Callable[..., Any] = with_load
    for option in (
        click.option("--batch", type=Whole(1), default=1, show_default=True, metavar="B",
                     help="Sequences in a step of training, on each card."),
        click.option("--train-tokens", type=Whole(1), metavar="N",
                     help="Tokens of the whole training, all passes together (default: it is said for a million)."),
        click.option("--train", type=click.Choice(["full", "lora", "qlora"]),
                     help="Train it instead: all weights, an adapter, or one over 4-bit weights."),
        click.option("--embedding", type=click.Choice(["host", "cards"]),
                     help="Where the table of token embeddings lies (default: as the program does it)."),
        click.option("--offload", type=click.Choice(["none", "experts", "layers"]), default="none", show_default=True,
                     help="What may stay with the processor if the model does not fit on the cards (llama.cpp only)."),
        click.option("--kv-bits", type=click.Choice(list(_KV_BITS)), callback=lambda _, __, name: _KV_BITS.get(name),
                     help="Precision of the key-value cache, in bits or as programs call it (default: the assumption "
                          "kv_cache_bits). q8_0 and q4_0, of llama.cpp, have 8.5 and 4.5 bits with their scales."),
    ):  # fmt: skip
        command = option(command)
    return command  # type: ignore[return-value]
