"""`gpuledger chart`: what would be read from the picture of a bar chart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuledger.extract import local_files
from gpuledger.flows.asking.options import data_dir_option, data_of, format_option
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.extract.charts.outcome import ChartReading

COLUMNS = (
    "label",
    "gpu_id",
    "series",
    "value",
    "unit",
    "status",
    "reason",
    "residual_px",
    "second_value",
    "bar_px",
    "box",
)
#: How many of the columns a table for people has.
SHORT = 8


@click.command()
@click.argument("image", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--source", default="toms_ai_articles", show_default=True,
    help="Read the labels as this source's: a bare RTX 3060 is the launch card there.",
)  # fmt: skip
@data_dir_option
@format_option
def command(image: Path, source: str, data_dir: str | None, form: str) -> int:
    """Read IMAGE, the picture of a bar chart, and hold each number against its own bar.

    A value is accepted where its bar's length, a second reading of its digits and the label of one card confirm it; all
    others are quarantined, with the reason. Nothing is stored. Exit status 3 where anything is quarantined.
    """
    from gpuledger.extract.charts import apart
    from gpuledger.extract.charts.outcome import BadPicture
    from gpuledger.flows.settings import parts
    from gpuledger.flows.showing.show import show_rows

    if not apart.is_installed():
        raise parts.NotInstalled("chart", "charts")
    try:
        reading = apart.read_chart(local_files.read_bytes(image, follow=True))
    except BadPicture as error:
        raise click.ClickException(f"{image}: {error.code}: {error}") from None
    rows = _rows(reading, source, data_dir)
    if form == "table":
        show_rows(COLUMNS[:SHORT], [row[:SHORT] for row in rows], form, title=_heading(reading))
    elif form == "csv":
        show_rows(COLUMNS, [(*row[:-1], " ".join(map(str, row[-1] or ()))) for row in rows], form)
    else:
        show_rows(COLUMNS, rows, form)
    if reading.problem:
        click.echo(f"{image}: {reading.problem}", err=True)
    quarantined = sum(row[5] == "quarantined" for row in rows)
    if quarantined:
        message = gettext("{count} of {all} values are quarantined: a person reads them")
        click.echo(message.format(count=quarantined, all=len(rows)), err=True)
    return 3 if quarantined or reading.problem else 0


def _heading(reading: ChartReading) -> str:
    return " · ".join(text for text in (reading.title, reading.subtitle, reading.unit) if text)


def _rows(reading: ChartReading, source: str, data_dir: str | None) -> list[tuple[Any, ...]]:
    """One row for each value, with its card."""
    from gpuledger.flows.decisions import identities
    from gpuledger.flows.night.charts import with_cards

    return [
        (
            value.label, gpu_id, value.series, value.text, value.unit, value.status, value.reason, value.residual_px,
            value.second_text, value.bar_px, list(value.box) if value.box else None,
        )
        for value, gpu_id in with_cards(reading, identities.identities_of(data_of(data_dir)).resolver(), source)
    ]  # fmt: skip
