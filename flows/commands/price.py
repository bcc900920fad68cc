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
    from gpuledger.warehouse.read import query

    data = data_of(data_dir)
    if as_of:
        sql = "SELECT g.gpu, p.* FROM price_as_of($day) p JOIN core.gpu g USING (gpu_id)"
        if form == "table":
            sql = """SELECT g.gpu, p.price_usd, p.median_usd, p.offers, p.source, p.price_since, p.url
                     FROM price_as_of($day) p JOIN core.gpu g USING (gpu_id)"""
    else:
        sql = """SELECT p.*, t.change_30d, t.percentile_1y, t.hint, t.reason AS hint_reason
                 FROM mart.gpu_price p LEFT JOIN mart.price_trend t USING (gpu_id)"""
        if form == "table":
            sql = """SELECT p.gpu, p.price_usd, p.median_usd, p.offers, p.msrp_usd, p.premium_over_msrp, p.used_price_usd,
                         p.source, p.price_since::DATE AS price_since, t.hint, p.excluded
                     FROM mart.gpu_price p LEFT JOIN mart.price_trend t USING (gpu_id)"""
    sql = f"SELECT * FROM ({sql})"
    if gpu:
        sql += " WHERE " + " AND ".join(f"gpu ILIKE $word{n}" for n in range(len(gpu.split())))
    words = {f"word{n}": f"%{word}%" for n, word in enumerate((gpu or "").split())}
    columns, rows = query(data, sql + " ORDER BY gpu", {**words, **({"day": as_of.date()} if as_of else {})})
    title = f"{gettext('Street prices')} · {_workload.when(data, as_of)}"
    show(columns, rows, form, title=title, words={"price_usd": "USD"})
