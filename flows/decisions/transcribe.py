"""Take in a person's transcription of charts: check it against all that is known, and store it with its origin.

Purchases depend on the figures of a transcription, so a file with a single doubtful line is refused as a whole.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.readers import transcriptions
from gpuledger.extract.readers.transcriptions import COLUMNS, Transcription, TranscriptionError
from gpuledger.transform import workloads
from gpuledger.transform.workloads import Workload
from gpuledger.warehouse.paths import DataDir

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


class NotStored(Exception):
    """The file was refused, and nothing was written. Every problem states its line and the way out."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored file and its charts. `is_new` is False if the same bytes were there already."""

    path: Path
    charts: tuple[Transcription, ...]
    is_new: bool


def store(file: Path, data: DataDir, *, name: str | None = None, replace: bool = False) -> Stored:
    """Check `file` and store it as <data>/transcriptions/<name>.csv, beside a JSON file that states its origin.

    Without `name`, the first 16 digits of its SHA-256 are its name. Raises NotStored if a line cannot be used, if a figure
    contradicts one that is stored or bundled, or if the name holds other bytes and `replace` is not set.
    """
    content = local_files.read_bytes(file, follow=True)
    sha256 = hashlib.sha256(content).hexdigest()
    name = name if name is not None else sha256[:16]
    path = data.transcriptions / f"{name}.csv"
    bundled = transcriptions.bundled()
    if not _NAME.fullmatch(name) or path.name in {other_file.name for other_file in bundled}:
        raise NotStored(
            [f"the name {name!r} is not lower-case words joined by hyphens, or is one of the program's own"]
        )
    charts = _transcriptions_of(content, file.name)
    # Other bytes under this name will be replaced, so they contradict nothing.
    stored = sorted(data.transcriptions.glob("*.csv"))
    others = [other_file for other_file in (*bundled, *stored) if other_file != path]
    problems = [
        *_unknown(content, file.name, workloads.known(data.workloads)),
        *_contradictions(charts, others, file.name),
    ]
    if problems:
        raise NotStored(problems)
    if path.exists() and path.read_bytes() != content and not replace:
        raise NotStored(
            [f"{path} holds another transcription; give --replace to put this one in its place, or a --name"]
        )
    is_new = not path.exists() or path.read_bytes() != content
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        archive_files.write(path.with_suffix(".json"), _provenance(file.name, sha256, charts))
        archive_files.write(path, content)
    return Stored(path, tuple(charts), is_new)


def _transcriptions_of(content: bytes, name: str) -> list[Transcription]:
    try:
        charts, issues = transcriptions.read_csv(content, name)
    except TranscriptionError as error:
        raise NotStored([str(error)]) from None
    if issues:
        raise NotStored([issue.message for issue in issues])
    if not charts:
        raise NotStored([f"{name}: no line below the header"])
    return charts


def _unknown(content: bytes, name: str, known: Mapping[str, Workload]) -> Iterator[str]:
    """A problem for each unknown workload and each unit that is not the workload's.

    A figure of an unknown workload would be compared with nothing, and one in another unit with the wrong figures.
    """
    for line, row in _lines(content):
        workload, unit = row["workload_id"], row["unit"]
        if workload not in known:
            close = workloads.nearest(workload, known)
            did_you_mean = f"did you mean {' or '.join(close)}? " if close else ""
            yield (
                f"{name}, line {line}: no workload is called {workload!r}; {did_you_mean}known are {', '.join(known)}; "
                "`gpuledger workload add` adds another"
            )
        elif unit != known[workload].unit:
            yield f"{name}, line {line}: {workload} is measured in {known[workload].unit}, not in {unit!r}"


def _contradictions(charts: list[Transcription], others: list[Path], name: str) -> Iterator[str]:
    """A problem for each card that has another figure in the same chart in another file.

    Only one of the two would be loaded, and nobody could say which is right.
    """
    known: dict[tuple[str, str, str], tuple[_Figure, str]] = {}
    for other_file in others:
        for place, figure in _figures(transcriptions.read_csv(local_files.read_bytes(other_file), other_file.name)[0]):
            known.setdefault(place, (figure, other_file.name))
    for place, figure in _figures(charts):
        before, where = known.get(place, (figure, ""))
        if before != figure:
            chart, _, gpu_name = place
            yield (
                f"{name}: {gpu_name} in {chart!r} is {_described(figure)} here and {_described(before)} in {where}: look at "
                "the chart again; where it is another chart give it another title, and where the old figure is wrong store "
                f"the corrected file with --name {Path(where).stem} --replace"
            )


#: The figure, its workload and the day of its publication.
_Figure = tuple[Decimal, str, date]


def _figures(charts: list[Transcription]) -> Iterator[tuple[tuple[str, str, str], _Figure]]:
    """Every figure, by its key in the warehouse: chart, unit and card."""
    for chart in charts:
        for gpu_name, score in chart.figures:
            yield (chart.chart, chart.unit, gpu_name), (score, chart.workload_id, chart.published_on)


def _described(figure: _Figure) -> str:
    score, workload, published = figure
    return f"{score} ({workload}, {published})"


def _lines(content: bytes) -> Iterator[tuple[int, Mapping[str, str]]]:
    rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), skipinitialspace=True)
    for row in rows:
        yield rows.line_num, {column: (row[column] or "").strip() for column in COLUMNS}


def _provenance(name: str, sha256: str, charts: list[Transcription]) -> bytes:
    fields = {
        "file": name,
        "sha256": sha256,
        "stored_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "charts": [
            {
                "article_url": chart.article_url, "chart": chart.chart, "image_url": chart.image_url,
                "image_sha256": chart.image_sha256, "published_on": chart.published_on.isoformat(),
                "transcribed_on": chart.transcribed_on.isoformat(), "workload_id": chart.workload_id,
                "figures": len(chart.figures),
            }
            for chart in charts
        ],
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False, indent=1).encode() + b"\n"
