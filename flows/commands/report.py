"""`gpuledger report`: write everything as one HTML page for buyers."""

from __future__ import annotations

from pathlib import Path

import click

from gpuledger.flows.doors.asking.options import data_dir_option, read_from


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@data_dir_option
def command(folder: Path, data_dir: str | None) -> None:
    """Write the report to FOLDER: one HTML file that needs no network, to be clicked through, printed or mailed.

    What to buy or rent for a workload or a model and a budget, and a page for each card, workload and model. Every number
    leads to the page that it was read from.
    """
    from gpuledger.flows.telling import progress, reporting

    data = read_from(data_dir)
    with progress.live_lines() as lines:
        written = reporting.write(data, folder, lines)
    for path in written:
        click.echo(path)
