"""`gpuledger value`: score for the money."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from gpuledger.flows.commands._options import as_of_option, data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext

if TYPE_CHECKING:
    from gpuledger.transform.answers.value import Basis

_HEADINGS = {
    "value_rank": "#", "price_usd": "USD", "per_1000_usd": "score per 1000 USD", "score_ratio": "× score",
    "price_ratio": "× price", "price_since": "price since",
}  # fmt: skip


@click.command()
@click.argument("workload")
@click.option("--price", "basis", type=click.Choice(["street", "msrp"]), default="street", show_default=True,
              help="Lowest price of a new card in a shop now, or launch price.")  # fmt: skip
@as_of_option
@data_dir_option
@format_option
def command(workload: str, basis: Basis, as_of: datetime | None, data_dir: str | None, form: str) -> None:
    """GPUs by score per dollar in WORKLOAD, best value first."""
    from gpuledger.flows.commands import _workload
    from gpuledger.flows.commands._show import show
    from gpuledger.transform.answers.value import value

    data = data_of(data_dir)
    words = _workload.check(data, workload)
    columns, rows = value(data, workload, basis, as_of.date() if as_of else None, short=form == "table")
    by = gettext("by street price") if basis == "street" else gettext("by launch price")
    show(columns, rows, form, title=f"{words} · {by} · {_workload.when(data, as_of)}", words=_HEADINGS)
    if form == "table":
        click.echo(gettext("● nobody else is at least as fast for no more money. Ratios are to the baseline GPU."))
