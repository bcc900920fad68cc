"""`gpuledger report`: write everything as one HTML page for buyers."""

from __future__ import annotations

from pathlib import Path

import click

from gpuledger.flows.doors.asking.options import currency_option, data_dir_option, market_option, read_from


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@market_option
@currency_option
@data_dir_option
def command(folder: Path, data_dir: str | None) -> None:
    """Write the report to FOLDER: one HTML file that needs no network, to be clicked through, printed or mailed.

    What to buy or rent for a workload or a model and a budget, and a page for each card, workload and model. Every number
    leads to the page that it was read from. It opens in --market and --currency; a kept question (`buy --save`) stays in
    its own market.
    """
    from gpuledger.flows.doors.showing import chosen
    from gpuledger.flows.doors.showing.money import money
    from gpuledger.flows.telling import progress, reporting
    from gpuledger.transform.report.contents import Opens

    data = read_from(data_dir)
    currency = money(data) if chosen.names_currency() else None
    with progress.live_lines() as lines:
        written = reporting.write(data, folder, lines, opens=Opens(chosen.market(), currency))
    for path in written:
        click.echo(path)
