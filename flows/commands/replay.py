"""`gpuledger replay`: rebuild the warehouse from the archive, without a network."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import click

from gpuledger.flows.doors.asking.options import data_dir_option
from gpuledger.flows.night.context import context_now
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use
from gpuledger.redaction import redact_text
from gpuledger.warehouse.paths import DataDir


@click.command()
@click.option(
    "--until", metavar="T",
    help="Stop after the last run that counts as this time or earlier: ISO 8601; a day means its end, UTC.",
)  # fmt: skip
@click.option(
    "--to", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="Publish in this data directory and leave the other as it is; the archive is read where it stands.",
)  # fmt: skip
@click.option(
    "--skip-damaged", is_flag=True,
    help="Go on where archived pages are damaged or missing, and say which: each counts as one that could not be read that "
    "night.",
)  # fmt: skip
@data_dir_option
def command(until: str | None, to: Path | None, skip_damaged: bool, data_dir: str | None) -> int:
    """Rebuild the whole warehouse from the archive: every run on record, in order, with what it fetched and what it missed.

    Nothing is published before the end, and the old versions stay: a replay that is stopped changes nothing. Exit status:
    0 published, 1 nothing published, 3 published without what is damaged.
    """
    from gpuledger.flows.history import replay
    from gpuledger.flows.telling import progress

    settings = settings_module.load({"data_dir": data_dir})
    source = settings.data()
    runs = replay.runs_until(source, _time(until) if until is not None else None, skip_damaged=skip_damaged)
    with progress.live_lines() as lines:
        context = replace(context_now(settings, DataDir(to) if to else source), progress=lines)
        summary = replay.replay(context, source, runs, skip_damaged=skip_damaged)
    names = {record.source for run in runs for record in run.sources}
    days = f", {runs[0].as_of:%Y-%m-%d} to {runs[-1].as_of:%Y-%m-%d}" if runs else ", all of them in the baseline"
    click.echo(f"replayed {len(runs)} runs of {len(names)} sources{days}")
    assert summary.published is not None
    click.echo(f"warehouse  {context.data.published} -> {summary.version}")
    if summary.damaged:
        click.echo(gettext("left out, as damaged or missing: {count}").format(count=len(summary.damaged)))
        for damage in summary.damaged[: replay.NAMED]:
            click.echo(f"  {redact_text(damage)}")
        if (unnamed := len(summary.damaged) - replay.NAMED) > 0:
            click.echo("  " + gettext("and {count} more").format(count=unnamed))
    return summary.exit_status


def _time(text: str) -> datetime:
    from gpuledger.flows.night.start import time_of

    with as_wrong_use(ValueError):
        time = time_of("--until", text)
    is_day = len(text) == len("2026-11-20")
    return time.replace(hour=23, minute=59, second=59, microsecond=999_999) if is_day else time
