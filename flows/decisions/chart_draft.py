"""A draft of a transcription: the machine fills in the numbers that the picture confirms, and a person fills in the others.

The draft is a CSV for `gpuledger transcribe`, in which the scores of doubtful rows are empty, and a page. The page shows the
picture, and for each open number its cut-out and the two readings of it.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from gpuledger.extract.charts.outcome import ChartReading, Value
from gpuledger.extract.readers.transcriptions import COLUMNS

#: Columns in addition to those of a transcription. `gpuledger transcribe` ignores them.
_BESIDE = ("read_by_machine", "second_reading", "residual_px", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a person knows about the picture and the picture does not show."""

    article_url: str
    image_url: str | None
    chart: str
    published_on: date
    transcribed_on: date
    workload_id: str
    unit: str


def to_csv(reading: ChartReading, series: int, about: About, content: bytes) -> str:
    """The values of one series as a transcription of the picture `content`. The score of a doubtful value is empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *_BESIDE])
    sha256 = hashlib.sha256(content).hexdigest()
    for value in _of(reading, series):
        score = value.number or "" if value.status == "accepted" else ""
        writer.writerow(
            [
                about.article_url, about.chart, about.image_url or "", sha256, about.published_on, about.transcribed_on,
                about.workload_id, about.unit, value.label, score, value.text or "", value.second_text or "",
                "" if value.residual_px is None else value.residual_px, value.reason,
            ]
        )  # fmt: skip
    return out.getvalue()


def to_page(reading: ChartReading, series: int, content: bytes, csv_name: str) -> str:
    """One HTML page that needs nothing else: the picture with the open numbers marked, and a row for each."""
    picture = f"data:image;base64,{base64.b64encode(content).decode()}"
    values = [value for value in _of(reading, series) if value.status == "quarantined"]
    rows = "\n".join(_row(value) for value in values)
    marks = "\n".join(_mark(value, reading) for value in values)
    title, name = html.escape(reading.title or "Chart"), html.escape(csv_name)
    headings = ("label", "in the picture", "first reading", "second reading", "px off its bar", "why it is open")
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    return f"""<!doctype html>
<meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px system-ui, sans-serif; margin: 24px; }}
.picture {{ position: relative; display: inline-block; max-width: 100%; }}
.picture img {{ max-width: 100%; display: block; }}
.mark {{ position: absolute; outline: 2px solid #d81b60; }}
.crop {{ background-image: url({picture}); background-repeat: no-repeat; display: inline-block; }}
td, th {{ padding: 4px 10px; text-align: left; }}
</style>
<h1>{title}</h1>
<p>{len(values)} values are open. Write each into the column score of <code>{name}</code>, or delete its line, and store the
file with <code>gpuledger transcribe {name}</code>.</p>
<table><tr>{head}</tr>
{rows}
</table>
<div class="picture"><img src="{picture}" alt="{title}">
{marks}
</div>
"""


def _of(reading: ChartReading, series: int) -> Sequence[Value]:
    return [value for value in reading.values if value.series == series]


def _row(value: Value) -> str:
    left, top, right, bottom = value.box or value.bar
    crop = (
        f'<span class="crop" style="width:{right - left + 16:.0f}px;height:{bottom - top + 8:.0f}px;'
        f'background-position:{8 - left:.0f}px {4 - top:.0f}px"></span>'
    )
    off = "" if value.residual_px is None else f"{value.residual_px:.2f}"
    cells = (html.escape(value.label), crop, value.text or "", value.second_text or "", off, html.escape(value.reason))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _mark(value: Value, reading: ChartReading) -> str:
    left, top, right, bottom = value.box or value.bar
    across, down = 100 / reading.width, 100 / reading.height
    return (
        f'<div class="mark" style="left:{left * across:.2f}%;top:{top * down:.2f}%;'
        f'width:{(right - left) * across:.2f}%;height:{(bottom - top) * down:.2f}%"></div>'
    )
