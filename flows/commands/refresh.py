"""`gpuledger refresh`: fetch, archive, parse, check, load, build, audit, publish, export."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from flows import settings as settings_module
from flows.commands._options import data_dir_option
from flows.context import Context, Engine, new_run_id, utc_now
from warehouse.paths import DataDir


@click.command()
@click.option(
    "--sample", is_flag=True, help="Read the bundled sample site, served on this machine, instead of the live sources."
)
@click.option(
    "--night", type=int, metavar="N",
    help="Night of the sample site: 1, 2 or 3. Without it each refresh takes the night after the last one that was "
    "published here, and stays on the last.",
)  # fmt: skip
@click.option("--engine", type=click.Choice(["prefect", "plain"]), default="prefect", show_default=True,
              help="Run under Prefect, or as plain functions: the tables are the same.")  # fmt: skip
@click.option("--only", multiple=True, metavar="S", help="Read only this source; may be given again.")
@click.option(
    "--as-of",
    metavar="T",
    help="Time that the run counts as, ISO 8601 (default: now; the sample's nights have theirs).",
)
@data_dir_option
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    sample: bool,
    night: int | None,
    engine: Engine,
    only: tuple[str, ...],
    as_of: str | None,
    data_dir: str | None,
    quiet: bool,
) -> int:
    """Read all sources, rebuild what changed, publish.

    Exit status: 0 published, 1 nothing published, 2 wrong usage, 3 published with at least one source failed.
    """
    from flows.commands import _progress

    settings = settings_module.load({"data_dir": data_dir})
    data = DataDir(Path(settings.data_dir))
    if night is not None and not sample:
        raise click.UsageError("--night is a night of the sample site: give --sample with it")
    context = _context(settings, data, sample, night, engine, only, as_of)
    with _progress.shown(quiet) as progress:
        if engine == "prefect":
            from flows.prefect_engine import refresh

            summary = refresh(context, progress)
        else:
            from flows.refresh import read_plain, run

            summary = run(context, read_plain, progress)
    if not quiet or summary.exit_status == 1:
        _progress.show_summary(summary, data)
    return summary.exit_status


def _context(
    settings: settings_module.Settings,
    data: DataDir,
    sample: bool,
    night: int | None,
    engine: Engine,
    only: tuple[str, ...],
    as_of: str | None,
) -> Context:
    from extract import source as sources

    unknown = sorted(set(only) - set(sources.names()))
    if unknown:
        raise click.UsageError(f"no source is called {', '.join(unknown)}; known are {', '.join(sources.names())}")
    now = utc_now()
    time = _time(as_of) if as_of else now
    chosen = None
    if sample:
        from extract.sample import server

        chosen = night if night is not None else _next_night(data, server.NIGHTS)
        try:
            time = _time(as_of) if as_of else server.clock(chosen)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    return Context(
        settings=settings, data=data, run_id=new_run_id(now), as_of=time, started_at=now, engine=engine,
        sample_night=chosen, only=only or None,
    )  # fmt: skip


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--as-of {text!r} is not a time such as 2026-11-20T03:00:00Z") from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _next_night(data: DataDir, nights: tuple[int, ...]) -> int:
    """The night after the last that was published here, or the first."""
    from warehouse.errors import NoWarehouse
    from warehouse.read import query

    try:
        _, rows = query(data, "SELECT max(sample_night) FROM ops.run WHERE status LIKE 'published%'")
    except NoWarehouse:
        return nights[0]
    last = rows[0][0]
    return nights[0] if last is None else min(int(last) + 1, nights[-1])
