"""`gpuledger transcribe`: store figures that a person read off a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuledger.extract import local_files
from gpuledger.flows.asking import complete
from gpuledger.flows.asking.day import day
from gpuledger.flows.asking.options import Whole, data_dir_option, data_of
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.extract.readers.transcriptions import Transcription
    from gpuledger.warehouse.paths import DataDir


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option(
    "--from-chart",
    "picture",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="IMAGE",
    help="Begin a transcription of this picture: write a CSV and a page with what is open.",
)
@click.option("--series", type=Whole(0), default=0, show_default=True, help="With --from-chart: which bar of a row.")
@click.option("--article-url", metavar="URL", help="With --from-chart: the article that shows the picture.")
@click.option("--image-url", metavar="URL", help="With --from-chart: the picture's own address.")
@click.option(
    "--workload", metavar="W", shell_complete=complete.workloads, help="With --from-chart: what was measured."
)
@click.option("--published-on", type=day, metavar="DAY", help="With --from-chart: the article's day.")
@click.option("--title", metavar="T", help="With --from-chart: the chart's title (default: as read).")
@click.option("--name", default=None, help="What to call it (default: the first digits of its SHA-256).")
@click.option("--replace", is_flag=True, help="Let it take the place of another one of the same name.")
@data_dir_option
def command(
    file: Path | None, name: str | None, replace: bool, data_dir: str | None, picture: Path | None, **about: Any
) -> int:
    """Check FILE, a CSV of chart values, and store it: the next refresh reads it.

    With --from-chart no FILE is given: one is begun from the picture, in this folder.

    One row a figure: article_url, chart, image_url, image_sha256, published_on, transcribed_on, workload_id, unit, gpu_name,
    score. Exit status 1, every problem with its line, and nothing stored, where a line cannot be used.
    """
    from gpuledger.flows.decisions import transcribe

    data = data_of(data_dir)
    if picture is not None:
        return _begin(picture, data, about)
    if file is None:
        raise click.UsageError("give FILE, or a picture with --from-chart")
    try:
        stored = transcribe.store(file, data, name=name, replace=replace)
    except transcribe.NotStored as error:
        for problem in error.problems:
            click.echo(wrong_use.translated(problem), err=True)
        click.echo(gettext("{count} to correct; nothing was stored").format(count=len(error.problems)), err=True)
        return 1
    for chart in stored.charts:
        sentence = gettext("{count} figures of {workload} in {unit}: {chart}")
        click.echo(
            sentence.format(count=len(chart.figures), workload=chart.workload_id, unit=chart.unit, chart=chart.chart)
        )
    for gpu_name, status in _open_names(stored.charts, data_dir):
        sentence = gettext("{name!r} is {status}: it is in no ranking until `gpuledger alias add` says what it means")
        click.echo(sentence.format(name=gpu_name, status=status))
    if stored.is_new:
        sentence = gettext("stored as {path}; the next refresh reads it")
    else:
        sentence = gettext("already stored as {path}; the next refresh reads it")
    click.echo(sentence.format(path=stored.path))
    return 0


def _open_names(charts: Iterable[Transcription], data_dir: str | None) -> list[tuple[str, str]]:
    """The names that do not mean one card for certain, each with its status."""
    from gpuledger.flows.decisions import identities

    resolver = identities.of(data_of(data_dir)).resolver()
    names = sorted({gpu_name for chart in charts for gpu_name, _ in chart.figures})
    resolved = ((name, resolver.resolve(name, source="toms_ai_articles").status) for name in names)
    return [(name, status) for name, status in resolved if status != "matched"]


def _begin(picture: Path, data: DataDir, about: Mapping[str, Any]) -> int:
    """Write the draft of a transcription, and a page that shows the open values. Returns 3 if there are any, else 0."""
    from dataclasses import replace

    from gpuledger.extract.charts import apart
    from gpuledger.extract.charts.limits import BadPicture
    from gpuledger.flows.decisions import chart_draft, identities
    from gpuledger.flows.decisions.chart_cards import with_cards
    from gpuledger.flows.settings import parts
    from gpuledger.transform import workloads

    for option in ("article_url", "workload", "published_on"):
        if about[option] is None:
            raise click.UsageError(f"--from-chart needs --{option.replace('_', '-')}")
    known = workloads.known(data.workloads)
    workload_id = workloads.id_named(about["workload"], known)
    if workload_id is None:
        near_ids = workloads.nearest(about["workload"], known) or list(known)
        message = gettext("no workload is called {workload!r}; the nearest are:").format(workload=about["workload"])
        raise click.UsageError("\n  ".join([message, *near_ids]))
    if not apart.is_installed():
        raise parts.NotInstalled("transcribe --from-chart", "charts")
    table, page = Path(f"{picture.stem}.csv"), Path(f"{picture.stem}.html")
    for path in (table, page):
        if path.exists():
            raise click.ClickException(f"{path} is there already: move it away, it may hold somebody's corrections")
    content = local_files.read_bytes(picture, follow=True)
    try:
        reading = apart.read_chart(content)
    except BadPicture as error:
        raise click.ClickException(f"{picture}: {error.code}: {error}") from None
    if not reading.values:
        raise click.ClickException(f"{picture}: {reading.problem}")
    resolver = identities.of(data).resolver()
    reading = replace(reading, values=tuple(value for value, _ in with_cards(reading, resolver)))
    chart_about = chart_draft.About(
        article_url=about["article_url"], image_url=about["image_url"],
        chart=about["title"] or reading.title or picture.stem, published_on=about["published_on"].date(),
        transcribed_on=datetime.now(UTC).date(), workload_id=workload_id, unit=known[workload_id].unit,
    )  # fmt: skip
    series = about["series"]
    table.write_text(chart_draft.to_csv(reading, series, chart_about, content), encoding="utf-8")
    page.write_text(chart_draft.to_page(reading, series, content, table.name), encoding="utf-8")
    of_series = [value for value in reading.values if value.series == series]
    open_values = sum(value.status == "quarantined" for value in of_series)
    sentence = gettext("{table}: {read} of {all} values read; {page} shows those that are open")
    click.echo(sentence.format(table=table, read=len(of_series) - open_values, all=len(of_series), page=page))
    return 3 if open_values else 0
