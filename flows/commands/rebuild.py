"""`gpuledger rebuild`: build the tables that changed definitions, data or settings affect."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option
from gpuledger.flows.settings import settings as settings_module


@click.command()
@click.option("--explain", is_flag=True, help="Only say what would be rebuilt and why; nothing is published.")
@click.option("--full", is_flag=True, help="Build every model, whether its inputs changed or not.")
@data_dir_option
def command(explain: bool, full: bool, data_dir: str | None) -> int:
    """Rebuild the tables whose definition, data or settings changed, without reading any source."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.history.rebuild import rebuild
    from gpuledger.flows.night import exporting
    from gpuledger.flows.night.start import rebuild_context_for

    settings = settings_module.load({"data_dir": data_dir})
    data = settings.data()
    summary = rebuild(rebuild_context_for(settings, data, "plain"), full=full, explain=explain)
    rows = [(b.model, b.action, b.reason, b.rows if b.rows >= 0 else None, round(b.seconds, 3)) for b in summary.builds]
    show_rows(["model", "would be" if explain else "was", "why", "rows", "seconds"], rows, "table")
    rebuilt = sum(build.action == "rebuilt" for build in summary.builds)
    if explain or not rebuilt:
        click.echo(f"{rebuilt} to rebuild, {len(rows) - rebuilt} kept; nothing was published")
        return 0
    exporting.after_run(data, summary.answered)
    click.echo(f"published {summary.version or ''}: {rebuilt} rebuilt, {len(rows) - rebuilt} kept")
    return summary.exit_status
