"""`gpuledger serve`: every night, until it is told to stop."""

from __future__ import annotations

import os
from pathlib import Path

import click

from gpuledger.flows.commands._options import data_dir_option, log_format_option
from gpuledger.flows.setup import settings as settings_module
from gpuledger.warehouse.paths import DataDir


@click.command()
@click.option("--cron", metavar="C", help="When to run, as a cron line (default: the setting cron, 03:00).")
@click.option("--time-zone", metavar="Z", help="IANA time zone of the cron line (default: the setting time_zone, UTC).")
@click.option(
    "--sample", is_flag=True, help="Read the bundled sample site, a night a run, instead of the live sources."
)
@data_dir_option
@log_format_option
def command(cron: str | None, time_zone: str | None, sample: bool, data_dir: str | None, log_format: str | None) -> int:
    """Refresh every night through Prefect, and whenever a quote is dropped or a model is edited.

    Uses the Prefect server that PREFECT_API_URL names; where it names none, one runs beside this process and ends with it.
    A night that was missed is made up for at the next start. Stop it with SIGTERM or Ctrl-C.
    """
    from gpuledger.flows.prefect_.plan import Plan
    from gpuledger.flows.prefect_.serve import serve
    from gpuledger.flows.prefect_.server import ServerFailed
    from gpuledger.flows.telling import logs

    options = {"data_dir": data_dir, "cron": cron, "time_zone": time_zone, "log_format": log_format}
    settings = settings_module.load(options)
    # The runs are processes of their own, and one log is read by one program.
    os.environ["GPULEDGER_LOG_FORMAT"] = settings.log_format
    logs.set_up(settings)
    plan = Plan(
        settings=settings, data=DataDir(Path(settings.data_dir)), cron=settings.cron, time_zone=settings.time_zone,
        sample=sample,
    )  # fmt: skip
    try:
        serve(plan)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except ServerFailed as error:
        raise click.ClickException(str(error)) from None
    return 0
