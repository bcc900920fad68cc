"""`gpuledger refresh`: fetch, archive, parse, check, load, build, audit, publish, export."""

from __future__ import annotations

from dataclasses import replace

import click

from gpuledger.flows.doors.asking.options import Whole, data_dir_option, keep_sample_option, log_format_option
from gpuledger.flows.night.context import Engine
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.say import as_wrong_use


@click.command()
@click.option(
    "--sample", is_flag=True, help="Read the bundled sample site, served on this machine, instead of the live sources."
)
@click.option(
    "--night", type=Whole(1), metavar="N",
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
@keep_sample_option
@data_dir_option
@log_format_option
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    sample: bool,
    night: int | None,
    engine: Engine,
    only: tuple[str, ...],
    as_of: str | None,
    keep_sample: bool,
    data_dir: str | None,
    log_format: str | None,
    quiet: bool,
) -> int:
    """Read all sources, rebuild what changed, publish.

    Exit status: 0 published, 1 nothing published, 2 wrong usage, 3 published with at least one source failed.
    """
    settings = settings_module.load({"data_dir": data_dir, "log_format": log_format})
    data = settings.data()
    from gpuledger.flows.night.gather import read_plain
    from gpuledger.flows.night.refresh import run
    from gpuledger.flows.night.start import Request, context_for, refuse_a_mixture
    from gpuledger.flows.telling import logs, progress
    from gpuledger.flows.telling.alerts import run_and_report

    # People read the summary that is printed below. With a log for programs, the log itself has all of it.
    is_log = settings.log_format == "json"
    logs.set_up(settings, None if is_log else "CRITICAL" if quiet else "ERROR")
    if night is not None and not sample:
        raise click.UsageError("--night is a night of the sample site: give --sample with it")
    with as_wrong_use(ValueError):
        request = Request(sample=sample, night=night, only=only, as_of=as_of, keep_sample=keep_sample)
        context = context_for(settings, data, engine, request)
    refuse_a_mixture(data, request)
    with progress.live_lines(quiet or is_log) as live:
        context = replace(context, progress=live)
        if engine == "prefect":
            from gpuledger.flows.prefect_.engine import refresh

            summary = run_and_report(context, lambda: refresh(context))
        else:
            summary = run_and_report(context, lambda: run(context, read_plain))
    if not is_log and (not quiet or summary.exit_status == 1):
        from gpuledger.flows.telling.run_shown import show_summary

        show_summary(summary, data)
    return summary.exit_status
