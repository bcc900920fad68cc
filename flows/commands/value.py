"""`gpuledger value`: score for the money."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.commands._options import as_of_option, data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext

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
def command(workload: str, basis: str, as_of: datetime | None, data_dir: str | None, form: str) -> None:
    """GPUs by score per dollar in WORKLOAD, best value first."""
    from gpuledger.flows.commands import _workload
    from gpuledger.flows.commands._show import show
    from gpuledger.warehouse.read import query

    data = data_of(data_dir)
    words = _workload.check(data, workload)
    values, prices = ("value_as_of($day)", "price_as_of($day)") if as_of else ("mart.value", "mart.gpu_price")
    sql = f"SELECT * FROM {values} WHERE workload_id = $workload AND price_basis = $basis ORDER BY value_rank, gpu_id"
    if form == "table":
        street = ", p.source AS shop, p.price_since::DATE AS price_since" if basis == "street" else ""
        sql = f"""
            SELECT v.value_rank, v.gpu, v.score, v.unit, v.price_usd, round(v.score_per_usd * 1000, 2) AS per_1000_usd,
                round(v.score_ratio, 2) AS score_ratio, round(v.price_ratio, 2) AS price_ratio,
                CASE WHEN v.on_pareto_frontier THEN '●' ELSE '' END AS frontier{street}
            FROM ({sql}) v LEFT JOIN {prices} p USING (gpu_id) ORDER BY v.value_rank, v.gpu_id"""
    day = {"day": as_of.date()} if as_of else {}
    columns, rows = query(data, sql, {"workload": workload, "basis": basis, **day})
    by = gettext("by street price") if basis == "street" else gettext("by launch price")
    show(columns, rows, form, title=f"{words} · {by} · {_workload.when(data, as_of)}", words=_HEADINGS)
    if form == "table":
        click.echo(gettext("● nobody else is at least as fast for no more money. Ratios are to the baseline GPU."))
