"""`gpuledger model`: add models to those of the catalogue."""

from __future__ import annotations

from pathlib import Path

import click

from gpuledger.extract.message import reason_of
from gpuledger.flows.asking.options import data_dir_option, data_of, format_option, read_from
from gpuledger.flows.words.say import say


@click.group()
def command() -> None:
    """Add models to the catalogue, or list all of them."""


@command.command()
@click.argument("config", type=click.Path(exists=True, path_type=Path), metavar="PATH")
@click.option("--id", "model_id", metavar="ID", help="Name of the model (default: from the config, or its folder).")
@data_dir_option
def add(config: Path, model_id: str | None, data_dir: str | None) -> None:
    """Keep a model: from its folder, its config.json (safetensors beside it are read too), or any part of a GGUF file.

    The next refresh or rebuild takes it into core.model.
    """
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.sizing.architecture import count_parameters, read_config
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.files.source import described
    from gpuledger.transform.sizing.own import save, suggest_id
    from gpuledger.transform.sizing.weights import weights

    data = data_of(data_dir)
    try:
        model_config = described(config)
        model_id = model_id or suggest_id(model_config, config)
        if model_id is None:
            raise click.UsageError(f"{config} has no name of its own: give one with --id")
        path = save(data.models, model_id, model_config, utc_now().date())
        shape = read_config(model_config)
        parameters = count_parameters(shape).total
    except SizingError as error:
        raise click.UsageError(say(error)) from None
    click.echo(f"{model_id}: {parameters:,} parameters, kept in {path}")
    if shape.stored_as:
        stored = weights(shape, shape.stored_as)
        click.echo(
            f"the tensors of the file take {stored.total / 1e9:,.2f} GB, {stored.bits_per_weight:.2f} bits a weight"
        )
    click.echo("the next `gpuledger refresh` or `rebuild` takes it into core.model; `gpuledger size` knows it now")


@command.command(name="list")
@click.option("--added", "only_added", is_flag=True, help="Those that were added alone.")
@data_dir_option
@format_option
def list_(only_added: bool, data_dir: str | None, form: str) -> None:
    """All models: those that were added, with what is wrong with those that cannot be used, and the catalogue's."""
    from gpuledger.flows.showing.show import show_rows
    from gpuledger.transform.sizing import catalogue, diffusion
    from gpuledger.transform.sizing.architecture import count_parameters, read_config
    from gpuledger.transform.sizing.own import load

    added, wrong = load(read_from(data_dir).models)
    rows = [[own.model_id, count_parameters(read_config(own.config)).total, own.added_on, ""] for own in added]
    rows += [[None, None, None, reason_of(error)] for error in wrong]
    if not only_added:
        known = {name: count_parameters(catalogue.architecture(name)).total for name in catalogue.models()}
        known |= {name: model.parameters for name, model in diffusion.diffusion_models().items()}
        rows += [[name, parameters, None, ""] for name, parameters in sorted(known.items())]
    show_rows(["model_id", "parameters", "added_on", "problem"], rows, form)
