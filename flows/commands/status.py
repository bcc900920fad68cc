"""`gpuledger status`: how fresh each source is, and how the last runs went."""

from __future__ import annotations

import click

from flows.commands._options import data_dir_option, data_of, format_option
from warehouse.paths import DataDir


@click.command()
@data_dir_option
@format_option
def command(data_dir: str | None, form: str) -> None:
    """Freshness of the sources and the last runs, those that failed or were interrupted included."""
    from flows.commands._show import show
    from warehouse.read import query

    data = data_of(data_dir)
    columns, rows = query(
        data,
        """SELECT s.*, coalesce(i.open_issues, 0) AS open_issues FROM mart.source_status s LEFT JOIN (
               SELECT source, count(*) AS open_issues FROM ops.issue
               WHERE run_id = (SELECT arg_max(run_id, rowid) FROM ops.source_run) GROUP BY source
           ) i USING (source) ORDER BY source""",
    )
    show(columns, rows, form, title="Sources")
    if form == "table":
        show(*_runs(data), form, title="Last runs")


def _runs(data: DataDir) -> tuple[list[str], list[tuple[object, ...]]]:
    """The last ten runs of the warehouse and the journal, newest first."""
    from flows import journal
    from warehouse.read import query

    columns, rows = query(
        data,
        """SELECT run_id, as_of, engine, status, parsed, loaded, quarantined, duplicate, sources_failed, models_rebuilt,
               reason
           FROM ops.run ORDER BY started_at DESC, rowid DESC LIMIT 10""",
    )
    known = {row[0] for row in rows}
    later = [e for e in journal.read(data.journal)[-10:] if e.run_id not in known]
    unpublished = [(e.run_id, e.as_of, e.engine, e.status, *[None] * 6, e.reason) for e in reversed(later)]
    return columns, sorted([*unpublished, *rows], key=lambda row: str(row[0]), reverse=True)[:10]
