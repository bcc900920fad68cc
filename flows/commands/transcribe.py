"""`gpuledger transcribe`: figures that a person read off a chart."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuledger.flows.commands._options import data_dir_option, data_of
from gpuledger.flows.setup.lang import gettext

if TYPE_CHECKING:
    from gpuledger.extract.readers.transcriptions import Transcription


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", default=None, help="What to call it (default: the first digits of its SHA-256).")
@click.option("--replace", is_flag=True, help="Let it take the place of another one of the same name.")
@data_dir_option
def command(file: Path, name: str | None, replace: bool, data_dir: str | None) -> int:
    """Check FILE, a CSV of chart values, and store it: the next refresh reads it.

    One row a figure: article_url, chart, image_url, image_sha256, published_on, transcribed_on, workload_id, unit, gpu_name,
    score. Exit status 1, every problem with its line, and nothing stored, where a line cannot be used.
    """
    from gpuledger.flows.setup import transcribe

    data = data_of(data_dir)
    try:
        stored = transcribe.store(file, data, name=name, replace=replace)
    except transcribe.NotStored as error:
        for problem in error.problems:
            click.echo(problem, err=True)
        click.echo(gettext("{count} to correct; nothing was stored").format(count=len(error.problems)), err=True)
        return 1
    for chart in stored.charts:
        words = gettext("{count} figures of {workload} in {unit}: {chart}")
        click.echo(
            words.format(count=len(chart.figures), workload=chart.workload_id, unit=chart.unit, chart=chart.chart)
        )
    for gpu_name, status in _open_names(stored.charts, data_dir):
        words = gettext("{name!r} is {status}: it is in no ranking until `gpuledger alias add` says what it means")
        click.echo(words.format(name=gpu_name, status=status))
    if stored.is_new:
        words = gettext("stored as {path}; the next refresh reads it")
    else:
        words = gettext("already stored as {path}; the next refresh reads it")
    click.echo(words.format(path=stored.path))
    return 0


def _open_names(charts: Iterable[Transcription], data_dir: str | None) -> list[tuple[str, str]]:
    """The names that mean no card for certain."""
    from gpuledger.flows.setup import identities

    resolver = identities.of(data_of(data_dir)).resolver()
    names = sorted({gpu_name for chart in charts for gpu_name, _ in chart.figures})
    found = ((name, resolver.resolve(name, source="toms_ai_articles").status) for name in names)
    return [(name, status) for name, status in found if status != "matched"]
