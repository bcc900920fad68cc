"""`gpuledger size`: parameters, memory and operations of a model. Needs no warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuledger.extract.message import Message
from gpuledger.flows.asking import complete
from gpuledger.flows.asking.assume import assume_option, of_settings
from gpuledger.flows.asking.options import data_dir_option, format_option, read_from
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say

if TYPE_CHECKING:
    from gpuledger.transform.sizing.report import Quantity

#: The context if --context is not given; at most the context of the model.
_CONTEXT = 4096


@click.command()
@click.argument("model", required=False, shell_complete=complete.models)
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="CONFIG.JSON",
              help="A Hugging Face style config.json instead of a MODEL of the catalogue.")  # fmt: skip
@click.option("--precision", default="fp16", show_default=True, metavar="P",
              help="Number format of the weights: fp16, int8, int4, Q4_K_M, awq-int4-g128 …")  # fmt: skip
@click.option("--context", type=int, metavar="N", help=f"Tokens of context (default: {_CONTEXT}, or the model's own).")
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True, metavar="B", help="Sequences at once.")
@assume_option
@data_dir_option
@format_option
def command(
    model: str | None,
    config: Path | None,
    precision: str,
    context: int | None,
    batch: int,
    assumed: tuple[str, ...],
    data_dir: str | None,
    form: str,
) -> None:
    """Parameters, memory and operations of MODEL, exactly, and the published method of the second source document."""
    from gpuledger.flows.showing.show import show_rows
    from gpuledger.transform.sizing.errors import SizingError

    if (model is None) == (config is None):
        raise click.UsageError(gettext("name one MODEL, or give its --config config.json"))
    try:
        size_rows = quantities(model, config, precision, context, batch, assumed, read_from(data_dir).models)
    except SizingError as error:
        raise click.UsageError(say(error)) from None
    columns = ["quantity", "value", "unit", "note"]
    rows = [[getattr(quantity, name) for name in columns] for quantity in size_rows]
    if form == "table":
        rows = [[say(name), _human(value, unit), say(unit), say(note)] for name, value, unit, note in rows]
    show_rows(columns, rows, form, title=str(model or config))


def quantities(
    model: str | None,
    config: Path | None,
    precision: str,
    context: int | None,
    batch: int,
    assumed: tuple[str, ...],
    own: Path,
) -> list[Quantity]:
    """The parameters, memory and operations of a model. Raises SizingError."""
    from gpuledger.transform.sizing import catalogue, diffusion
    from gpuledger.transform.sizing.architecture import read_config
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.own import load, read_json
    from gpuledger.transform.sizing.report import image_sizes, sizes

    assumptions = of_settings(assumed)
    if model is not None and model in diffusion.diffusion_models():
        if context is not None:
            raise SizingError(Message("speed.image_model_no_context"))
        return list(image_sizes(diffusion.get(model), precision, batch, assumptions))
    added = {own_model.model_id: own_model for own_model in load(own)[0]}
    if config is not None:
        shape = read_config(read_json(config))
    elif model in added:
        shape = read_config(added[model].config)
    elif model is not None and (known := catalogue.canonical(model)) is not None:
        shape = catalogue.architecture(known)
    elif str(model).endswith((".json", ".gguf")):
        raise SizingError(Message("speed.file_goes_behind_config", model=model))
    else:
        raise catalogue.unknown(str(model), [*catalogue.models(), *diffusion.diffusion_models(), *added])
    return list(
        sizes(shape, precision, min(_CONTEXT, shape.context) if context is None else context, batch, assumptions)
    )


def _human(value: float, unit: str) -> str:
    return f"{value:,.2f}" if unit == "GB" else f"{value:,}"
