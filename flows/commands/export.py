"""`gpuledger export`: the tables as files for procurement."""

from __future__ import annotations

from pathlib import Path

import click

from gpuledger.flows.commands._options import data_dir_option, data_of


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(["csv", "xlsx", "parquet"]), default="csv", show_default=True)
@data_dir_option
def command(folder: Path, form: str, data_dir: str | None) -> None:
    """Write every mart to FOLDER, one file a table (one workbook for xlsx), with all days of its history.

    The CSV files that every run writes beside the warehouse hold the newest 90 days of daily prices and 30 of changes.
    """
    import importlib

    module = importlib.import_module(f"gpuledger.warehouse.outputs.{form}_files")
    for path in module.export(data_of(data_dir), folder):
        click.echo(path)
