"""`gpuledger vacuum`: remove old versions, old pages of the archive, and records of old runs."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import Whole, data_dir_option
from gpuledger.flows.night.context import context_now
from gpuledger.flows.settings import settings as settings_module


@click.command()
@click.option(
    "--keep-versions", type=Whole(1), metavar="N", help="Published versions that stay (default: the setting)."
)
@click.option(
    "--keep-days", type=Whole(0), metavar="N", help="Days that stay, back from the newest run (default: the setting)."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@data_dir_option
def command(keep_versions: int | None, keep_days: int | None, dry_run: bool, data_dir: str | None) -> int:
    """Remove what nothing needs any more: old versions, old pages, items of old parsers, accounts of old runs.

    A page that any row refers to stays, and so does every price. Before pages of old runs go, those runs are replayed
    into a baseline that `gpuledger replay` begins with; where that fails, the archive is left as it is.
    """
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.history.vacuum import vacuum

    settings = settings_module.load({"data_dir": data_dir, "keep_versions": keep_versions, "keep_days": keep_days})
    removed = vacuum(context_now(settings, settings.data()), dry_run=dry_run)
    show_rows(["what", "count", "bytes"], [(r.what, r.count, r.size_bytes or None) for r in removed], "table")
    total = sum(r.size_bytes for r in removed)
    click.echo(f"{'would remove' if dry_run else 'removed'} {total / 1e6:,.1f} MB")
    return 0
