"""Transcriptions: figures that a person read off a picture of a chart, with the chart that they came from.

Some articles publish their numbers only as pictures. A transcription is a CSV with one row for each figure:

    article_url,chart,image_url,image_sha256,published_on,transcribed_on,workload_id,unit,gpu_name,score

`chart` is the chart's title. `image_url` and `image_sha256` say which picture the person read. If the hash is empty, the
program assumes that the person read the first bytes that it archived from that address. If the address is empty, the person
did not note it, so nobody can tell when the chart changes. Dates are ISO 8601. `gpu_name` is as printed in the chart.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gpuledger.items import Chart, Issue, Score

COLUMNS = (
    "article_url",
    "chart",
    "image_url",
    "image_sha256",
    "published_on",
    "transcribed_on",
    "workload_id",
    "unit",
    "gpu_name",
    "score",
)
#: The transcriptions that come with the program.
BUNDLED = Path(__file__).parent / "transcriptions"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_WORKLOAD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class TranscriptionError(ValueError):
    """A transcription cannot be read. The message names the file, every bad line and what should be there."""


@dataclass(frozen=True, slots=True)
class Transcription:
    """The figures of one chart for one workload. `figures` are pairs of the card as printed and the score in `unit`."""

    article_url: str
    chart: str
    image_url: str | None
    image_sha256: str | None
    published_on: date
    transcribed_on: date
    workload_id: str
    unit: str
    figures: tuple[tuple[str, Decimal], ...] = ()


def bundled() -> list[Path]:
    """Return the transcription files that come with the program, sorted by name."""
    return sorted(BUNDLED.glob("*.csv"))


def read_csv(content: bytes, name: str) -> tuple[list[Transcription], list[Issue]]:
    """Return the charts of one file, and an issue for every row that is not used.

    Raises TranscriptionError if the file is not a transcription.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TranscriptionError(f"{name}: not UTF-8 ({error}); save the file as UTF-8 CSV") from None
    rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    missing = [column for column in COLUMNS if column not in _header(rows, name)]
    if missing:
        raise TranscriptionError(f"{name}: no column {', '.join(missing)}; a transcription has {', '.join(COLUMNS)}")
    figures: dict[tuple[Transcription, str], Decimal] = {}
    conflicts: set[tuple[Transcription, str]] = set()
    issues: list[Issue] = []
    for row in _rows(rows, name):
        where = f"{name}, line {rows.line_num}"
        cells = {column: (row[column] or "").strip() for column in COLUMNS}
        try:
            chart, score = _chart(cells), _score(cells["score"])
        except ValueError as error:
            issues.append(_issue("transcription_row", f"{where}: {error}", where, ",".join(map(str, row.values()))))
            continue
        key = (chart, cells["gpu_name"])
        if (above := figures.setdefault(key, score)) != score:
            conflicts.add(key)
            message = f"{where}: {cells['gpu_name']} is {score} here and {above} above; neither is used"
            issues.append(_issue("transcription_conflict", message, where, cells["gpu_name"]))
    by_chart: dict[Transcription, list[tuple[str, Decimal]]] = {}
    for (chart, gpu_name), score in figures.items():
        if (chart, gpu_name) not in conflicts:
            by_chart.setdefault(chart, []).append((gpu_name, score))
    return [replace(chart, figures=tuple(pairs)) for chart, pairs in by_chart.items()], issues


def _header(rows: csv.DictReader[str], name: str) -> Sequence[str]:
    try:
        return rows.fieldnames or ()
    except csv.Error as error:
        raise TranscriptionError(f"{name}, line 1: {error}; a transcription has {', '.join(COLUMNS)}") from None


def _rows(rows: csv.DictReader[str], name: str) -> Iterator[dict[str, str | Any]]:
    """Yield the rows. Raises TranscriptionError if the csv module gives up, for example on a field without an end."""
    try:
        yield from rows
    except csv.Error as error:
        raise TranscriptionError(f"{name}, line {rows.line_num}: {error}; mend that line") from None


def scores(transcription: Transcription) -> Iterator[Score]:
    """Yield the figures of one chart as items, each with its article, chart and date."""
    for gpu_name, score in transcription.figures:
        yield Score(
            gpu_name=gpu_name,
            table=transcription.chart,
            column=transcription.unit,
            workload_id=transcription.workload_id,
            score=score,
            unit=transcription.unit,
            published_on=transcription.published_on,
            article_url=transcription.article_url,
            source_image=transcription.image_url,
        )


def place_of(url: str) -> str:
    """Return an article's address without the parts that do not identify it: query, fragment, host case, final slash."""
    parts = urlsplit(url)
    return f"{(parts.hostname or '').lower()}{parts.path.rstrip('/')}"


def match(
    charts: Iterable[Chart],
    image_hashes: Mapping[str, str],
    transcriptions: Iterable[Transcription],
    first_hashes: Mapping[str, str] | None = None,
) -> list[Issue]:
    """Return an issue `transcription_outdated` for each chart that has changed since a person transcribed it.

    `charts` are the charts that the articles show now. `image_hashes` has the SHA-256 of the bytes at each address now,
    `first_hashes` the SHA-256 of the first bytes ever archived from it, which count if a transcription names no hash.
    Articles that were not read this time are passed over, since then nothing is known of their charts.
    """
    addresses_now: dict[str, set[str]] = {}
    for chart in charts:
        addresses_now.setdefault(place_of(chart.article_url), set()).add(chart.image_url)
    issues = []
    for transcription in transcriptions:
        addresses = addresses_now.get(place_of(transcription.article_url))
        if addresses is not None and (change := _change(transcription, addresses, image_hashes, first_hashes or {})):
            code, seen = change
            message = f"the chart {transcription.chart!r} of {transcription.article_url}: {seen}"
            issues.append(
                Issue(
                    code=code,
                    message=message,
                    severity="warning" if code == "transcription_outdated" else "info",
                    where=transcription.workload_id,
                    text=transcription.image_url,
                    url=transcription.article_url,
                )
            )
    return issues


def _change(
    transcription: Transcription, addresses: set[str], now: Mapping[str, str], first: Mapping[str, str]
) -> tuple[str, str] | None:
    address = transcription.image_url
    if address is None:
        return "transcription_unwatched", "its image address was not noted; add image_url to the transcription"
    if address not in addresses:
        action = "compare the figures with the charts that are there now and transcribe again"
        return "transcription_outdated", f"its image {address} is no longer in the article; {action}"
    seen, expected = now.get(address), transcription.image_sha256 or first.get(address)
    if seen is None or expected is None or seen == expected:
        return None
    action = "look at it, and transcribe again or note the new image_sha256"
    return "transcription_outdated", f"its image has changed (sha256 {seen}, transcribed from {expected}); {action}"


def _chart(row: Mapping[str, str]) -> Transcription:
    """Return the chart of a row, without its figures. Raises ValueError."""
    for column in ("chart", "unit", "gpu_name"):
        if not row[column]:
            raise ValueError(f"{column} is empty")
    if not _WORKLOAD.fullmatch(row["workload_id"]):
        raise ValueError(f"workload_id {row['workload_id']!r} is not lower-case words joined by hyphens")
    sha256 = row["image_sha256"].lower()
    if sha256 and not _SHA256.fullmatch(sha256):
        raise ValueError("image_sha256 is not 64 hexadecimal digits; leave it empty if it is not known")
    published, transcribed = _day(row, "published_on"), _day(row, "transcribed_on")
    if transcribed < published:
        raise ValueError(f"transcribed_on {transcribed} is before published_on {published}")
    article, image = _address(row, "article_url"), _address(row, "image_url") if row["image_url"] else None
    return Transcription(
        article, row["chart"], image, sha256 or None, published, transcribed, row["workload_id"], row["unit"]
    )


def _address(row: Mapping[str, str], column: str) -> str:
    parts = urlsplit(row[column])
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{column} {row[column]!r} is no http or https address")
    return row[column]


def _day(row: Mapping[str, str], column: str) -> date:
    try:
        return date.fromisoformat(row[column])
    except ValueError:
        raise ValueError(f"{column} {row[column]!r} is no date like 2023-11-16") from None


def _score(text: str) -> Decimal:
    # Decimal(text) alone would accept 1e3, NaN and ١٢, which no chart prints.
    if not (text.isascii() and _NUMBER.fullmatch(text)) or not Decimal(text):
        raise ValueError(f"score {text!r} is no number above zero with a decimal point, such as 28.923")
    return Decimal(text)


def _issue(code: str, message: str, where: str, text: str) -> Issue:
    return Issue(code=code, message=message, severity="error", where=where, text=text)
