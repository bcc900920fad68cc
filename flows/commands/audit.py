"""`gpuledger audit`: what the source documents publish, beside the same figures recomputed."""

from __future__ import annotations

import click

from gpuledger.flows.commands._options import data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext


@click.command()
@click.option("--document", metavar="D", help="One document only (default: all).")
@data_dir_option
@format_option
def command(document: str | None, data_dir: str | None, form: str) -> None:
    """Every figure of the source documents: as published, recomputed, and the reason where they differ."""
    from gpuledger.flows.commands._show import show
    from gpuledger.warehouse.read import query

    data = data_of(data_dir)
    _, known = query(data, "SELECT DISTINCT document FROM mart.claim_audit ORDER BY 1")
    names = [name for (name,) in known]
    if document is not None and document not in names:
        message = gettext("no document is called {document!r}; known are {known}")
        raise click.UsageError(message.format(document=document, known=", ".join(names)))
    chosen = [name for name in names if document in (None, name)]
    sql = "SELECT * FROM mart.claim_audit WHERE list_contains($documents, document) ORDER BY document, claim_id"
    if form == "table":
        sql = f"""SELECT document, statement, published, recomputed::DECIMAL(38, 6) AS recomputed,
                      coalesce(unit, '') AS unit, verdict, coalesce(erratum, '') AS reason FROM ({sql})"""
    columns, rows = query(data, sql, {"documents": chosen})
    show(columns, rows, form)
    if form == "table":
        _, counts = query(
            data,
            """SELECT document, string_agg(n || ' ' || verdict, ', ' ORDER BY verdict) FROM (
                   SELECT document, verdict, count(*) AS n FROM mart.claim_audit
                   WHERE list_contains($documents, document) GROUP BY ALL
               ) GROUP BY document ORDER BY document""",
            {"documents": chosen},
        )
        for name, words in counts:
            click.echo(f"{name}: {words}")
