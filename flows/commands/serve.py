"""`gpuledger serve`: refresh every night, until the process is stopped."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from gpuledger.flows.doors.asking.options import data_dir_option, log_format_option
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.say import say


@click.command()
@click.option("--cron", metavar="C", help="When to run, as a cron line (default: the setting cron, 03:00).")
@click.option("--time-zone", metavar="Z", help="IANA time zone of the cron line (default: the setting time_zone, UTC).")
@click.option(
    "--sample", is_flag=True, help="Read the bundled sample site, a night a run, instead of the live sources."
)
@data_dir_option
@log_format_option
def command(data_dir: str | None, **options: Any) -> int:
    """Refresh every night through Prefect, and whenever a quote is dropped or a model is edited.

    Uses the Prefect server that PREFECT_API_URL and PREFECT_API_AUTH_STRING name, such as one of `prefect server start`.
    A night that was missed is made up for at the next start. Stop it with SIGTERM or Ctrl-C.
    """
    from gpuledger.flows.prefect_.schedule import BadSchedule
    from gpuledger.flows.prefect_.serve import NoServer, serve
    from gpuledger.flows.telling import logs

    sample = options.pop("sample")
    settings = settings_module.load({"data_dir": data_dir, **options})
    data = replace(settings.data(), root=Path(settings.data_dir).resolve())
    # Each run is a process of its own, and gets the log format and the data directory of this process by its environment.
    os.environ["GPULEDGER_LOG_FORMAT"] = settings.log_format
    if data_dir:
        os.environ["GPULEDGER_DATA_DIR"] = data_dir
    logs.set_up(settings)
    for sentence in [*settings_module.left_out(), *settings_module.GONE.values()]:
        logging.getLogger("gpuledger.serve").warning(sentence)
    try:
        serve(settings, data, sample=sample)
    except BadSchedule as error:
        raise click.UsageError(say(error)) from None
    except NoServer as error:
        raise click.ClickException(say(error)) from None
    return 0
