"""`gpuledger model`: add models to those of the catalogue."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuledger.flows.doors.asking.options import data_dir_option, data_of, format_option, read_from
from gpuledger.flows.words.say import as_wrong_use, say
from gpuledger.message import Message, reason_of

if TYPE_CHECKING:
    from gpuledger.transform.sizing.diffusion import DiffusionModel
    from gpuledger.transform.sizing.tensors import Architecture


@click.group()
def command() -> None:
    """Add models to the catalogue, or list all of them."""


@command.command()
@click.argument("what", metavar="PATH|NAME")
@click.option("--id", "model_id", metavar="ID", help="Name of the model (default: from the config, or its folder).")
@data_dir_option
def add(what: str, model_id: str | None, data_dir: str | None) -> None:
    """Keep a model: of its folder, config.json (with safetensors beside it), any part of a GGUF file, or its name on a hub.

    The next refresh or rebuild takes it into core.model.
    """
    from gpuledger.flows.doors.asking.from_hub import bring
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.sizing import catalogue
    from gpuledger.transform.sizing.added_models import MODELS, OwnModel, save, suggest_id
    from gpuledger.transform.sizing.diffusion import shape_in
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.files.source import described
    from gpuledger.transform.sizing.named import parameters_of
    from gpuledger.transform.sizing.tensors import Architecture
    from gpuledger.transform.sizing.weights import weights

    data = data_of(data_dir)
    with as_wrong_use(SizingError):
        if not os.path.exists(what):  # noqa: PTH110  of any length
            # What nothing was fetched for is no model, whatever else has the id already.
            fetched_as = model_id if bring(what, data, model_id) else None
            model_id = fetched_as or catalogue.slug(catalogue.without_address(what))
            kept = next((one for one in MODELS.usable(data.root)[0] if one.model_id == model_id), None)
            if kept is None:
                raise click.UsageError(say(Message(
                    "{what!r} is no file, and no name of a model that is yet to be added: `gpuledger size {what}` "
                    "says whether it is known", what=what,
                )))  # fmt: skip
            model_config = kept.config
        else:
            model_config = dict(described(Path(what)))
            model_id = model_id or suggest_id(model_config, Path(what))
            if model_id is None:
                raise click.UsageError(f"{what} has no name of its own: give one with --id")
            save(data.root, OwnModel(model_id, utc_now().date(), model_config))
        shape = shape_in(model_config)
    click.echo(f"{model_id}: {parameters_of(shape):,} parameters, kept in {MODELS.file(data.root)}")
    if isinstance(shape, Architecture) and shape.stored_as:
        stored = weights(shape, shape.stored_as)
        click.echo(
            f"the tensors of the file take {stored.total / 1e9:,.2f} GB, {stored.bits_per_weight:.2f} bits a weight"
        )
    click.echo("the next `gpuledger refresh` or `rebuild` takes it into core.model; `gpuledger size` knows it now")


@command.command(name="list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """All models: those that were added, with what is wrong with those that cannot be used, and the catalogue's."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.sizing import catalogue, diffusion
    from gpuledger.transform.sizing.added_models import MODELS, check
    from gpuledger.transform.sizing.diffusion import shape_in

    added, wrong = MODELS.usable(read_from(data_dir).root, check)
    rows: list[list[object]] = [_listed(own.model_id, shape_in(own.config), None, own.added_on) for own in added]
    rows += [[None] * 6 + [reason_of(error)] for error in wrong]
    known = [_listed(name, catalogue.architecture(name), one.licence) for name, one in catalogue.models().items()]
    known += [_listed(name, model, model.licence) for name, model in diffusion.diffusion_models().items()]
    rows += sorted(known, key=lambda row: str(row[0]))
    show_rows(["model_id", "parameters", "context", "published_at", "licence", "added_on", "problem"], rows, form)


def _listed(
    name: str, shape: Architecture | DiffusionModel, licence: str | None, added_on: date | None = None
) -> list[object]:
    from gpuledger.transform.sizing.named import parameters_of

    context, stored_as = getattr(shape, "context", None), getattr(shape, "stored_as", "")
    return [name, parameters_of(shape), context, stored_as, licence, added_on, ""]
