"""`gpuledger price`: what a card costs, where, and whether to buy now or to wait."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.commands._options import as_of_option, data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext


@click.command()
@click.argument("gpu", required=False)
@as_of_option
@data_dir_option
@format_option
def command(gpu: str | None, as_of: datetime | None, data_dir: str | None, form: str) -> None:
    """Street prices of all GPUs, or of those whose name holds GPU ("rtx 4090"): where, since when, and the trend."""
    from gpuledger.flows.commands import _workload
    from gpuledger.flows.commands._show import show
    from gpuledger.transform.answers.price import price

    data = data_of(data_dir)
    columns, rows = price(data, gpu or "", as_of.date() if as_of else None, short=form == "table")
    title = f"{gettext('Street prices')} · {_workload.when(data, as_of)}"
    show(columns, rows, form, title=title, words={"price_usd": "USD"})
