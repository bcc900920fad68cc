"""`gpuledger size`: parameters, memory and operations of a model. Needs no warehouse."""

from __future__ import annotations

from pathlib import Path

import click

from gpuledger.flows.doors.asking.assume import of_settings
from gpuledger.flows.doors.asking.fields import question_options
from gpuledger.flows.doors.asking.from_hub import bring
from gpuledger.flows.doors.asking.options import data_dir_option, format_option, read_from
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use, say
from gpuledger.transform.buying.question import SizeQuestion


@click.command()
@click.argument("model", required=False)
@click.option("--config", type=click.Path(exists=True, path_type=Path), metavar="PATH",
              help="A config.json, a folder, or safetensors or GGUF files instead of a MODEL of the catalogue.")  # fmt: skip
@question_options(SizeQuestion)
@data_dir_option
@format_option
def command(model: str | None, config: Path | None, question: SizeQuestion, data_dir: str | None, form: str) -> None:
    """Parameters, memory and operations of MODEL, exactly, and the published method of the second source document."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.answers.sizes import quantities
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.named import id_of, shape_of, usual_precision

    if (model is None) == (config is None):
        raise click.UsageError(gettext("name one MODEL, or give its --config config.json"))
    data = read_from(data_dir)
    bring(str(model or config), data)
    name = str(model) if config is None else str(config.absolute())
    with as_wrong_use(SizingError):
        shape, model_id = shape_of(name, data.root), id_of(name, data.root)
        precision = question.precision or usual_precision(shape, name)
        size_rows = quantities(shape, precision, question.context, question.batch, of_settings(question.assumed))
    columns = ["quantity", "value", "unit", "note"]
    rows = [[getattr(quantity, name) for name in columns] for quantity in size_rows]
    if form == "table":
        rows = [
            [say(name), f"{value:,.2f}" if unit == "GB" else f"{value:,}", say(unit), say(note)]
            for name, value, unit, note in rows
        ]
    show_rows(columns, rows, form, title=model_id)
