"""`gpuledger value`: score for the money."""

from __future__ import annotations

import click

from flows.commands._options import data_dir_option, data_of, format_option


@click.command()
@click.argument("workload")
@click.option("--price", "basis", type=click.Choice(["street", "msrp"]), default="street", show_default=True,
              help="Lowest price of a new card in a shop now, or launch price.")  # fmt: skip
@data_dir_option
@format_option
def command(workload: str, basis: str, data_dir: str | None, form: str) -> None:
    """GPUs by score per dollar in WORKLOAD, best value first."""
    from flows.commands import _workload
    from flows.commands._show import show
    from warehouse.read import query

    data = data_of(data_dir)
    words = _workload.check(data, workload)
    sql = "SELECT * FROM mart.value WHERE workload_id = $workload AND price_basis = $basis ORDER BY value_rank, gpu_id"
    if form == "table":
        sql = f"""
            SELECT v.value_rank, v.gpu, v.score, v.unit, v.price_usd, round(v.score_per_usd * 1000, 2) AS per_1000_usd,
                round(v.score_ratio, 2) AS score_ratio, round(v.price_ratio, 2) AS price_ratio,
                CASE WHEN v.on_pareto_frontier THEN '●' ELSE '' END AS frontier,
                CASE WHEN $basis = 'street' THEN p.source END AS shop,
                CASE WHEN $basis = 'street' THEN p.price_since::DATE END AS price_since
            FROM ({sql}) v LEFT JOIN mart.gpu_price p USING (gpu_id) ORDER BY v.value_rank, v.gpu_id"""
    columns, rows = query(data, sql, {"workload": workload, "basis": basis})
    if form == "table" and basis == "msrp":
        columns, rows = columns[:-2], [row[:-2] for row in rows]
    headings = {
        "value_rank": "#", "price_usd": "USD", "per_1000_usd": "score per 1000 USD", "score_ratio": "× score",
        "price_ratio": "× price", "price_since": "price since",
    }  # fmt: skip
    basis_words = "street price" if basis == "street" else "launch price"
    show(columns, rows, form, title=f"{words} · by {basis_words} · {_workload.latest(data)}", words=headings)
    if form == "table":
        click.echo("● nobody else is at least as fast for no more money. Ratios are to the baseline GPU.")
