"""Charts of the night: the machine reads once each picture that a person requested or transcribed.

This needs the packages of the extra `charts`. The archive keeps the reading as a page of its own beside the picture
(`chart:<hash of the picture>`), so later nights and a replay read it there, with or without the packages. A person's
transcription counts more than the reading. If the two differ, an issue states both.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuledger.extract import charts as chart_reader
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.charts import apart
from gpuledger.extract.charts.outcome import BadPicture, Box, ChartReading, Value
from gpuledger.extract.collect import Collected
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.items import Chart, ChartValue, Issue, Score
from gpuledger.extract.pages import OfRun
from gpuledger.extract.readers import chart_plans, transcriptions
from gpuledger.extract.readers.chart_plans import Plan
from gpuledger.extract.readers.transcriptions import Transcription
from gpuledger.extract.source import Source
from gpuledger.flows.decisions import identities
from gpuledger.transform import workloads
from gpuledger.transform.workloads import Workload
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.identity.resolver import Resolver

#: The source by whose conventions labels are read, if the caller names none: there a bare RTX 3060 is the launch card.
SOURCE = "toms_ai_articles"

#: Where the reading of a picture comes from. By the hash of the picture it gives the reading: `reading`, or `code` and
#: `problem`; None if nobody has read it.
Readings = Callable[[Source, str], dict[str, Any] | None]


def by_machine(archive: Archive, now: datetime, run_id: str, *, may_read: bool) -> Readings:
    """Reads a picture now, in a process of its own, or takes the reading of the same bytes from the archive.

    A picture that was read before needs no import.
    """

    def save(source: Source, address: str, content: bytes | None) -> None:
        """Record that this run has used the reading. `content` is None if the archive has it already."""
        fetched = Fetched(
            url=address, final_url=address, status=200 if content else 304, headers={"content-type": "application/json"},
            content=content or b"", not_modified=content is None,
        )  # fmt: skip
        archive.save(source.name, fetched, now, run_id)

    def reading(source: Source, picture: str) -> dict[str, Any] | None:
        address = f"chart:{picture}"
        last = archive.latest(source.name, address)
        known: dict[str, Any] | None = json.loads(archive.content_of(last.sha256)) if last else None
        can_read = may_read and apart.is_installed()
        if known is not None and (known["reader"] == reader_code() or not can_read):
            save(source, address, None)
            return known
        if not can_read:
            return None
        try:
            answer: dict[str, Any] = {"reading": apart.read_chart(archive.content_of(picture)).to_json()}
        except BadPicture as error:
            answer = {"code": error.code, "problem": str(error)}
        answer["reader"] = reader_code()
        save(source, address, json.dumps(answer, ensure_ascii=False, indent=1).encode())
        return answer

    return reading


def as_then(pages: OfRun) -> Readings:
    """The readings that a past run used."""

    def reading(source: Source, picture: str) -> dict[str, Any] | None:
        try:
            snapshot = pages.fetch(source, f"chart:{picture}")
        except ExtractError:
            return None
        known: dict[str, Any] = json.loads(pages.page_of(snapshot).content)
        return known

    return reading


@cache
def reader_code() -> str:
    """Fingerprint of the code that reads pictures. When it changes, the pictures are read again."""
    folder = Path(chart_reader.__file__).parent
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()[:12]


def with_cards(reading: ChartReading, resolver: Resolver, source: str = SOURCE) -> list[tuple[Value, str | None]]:
    """The values of a chart with their gpu_id. Values with a doubtful label are quarantined."""
    meant = {value.label: resolver.resolve(value.label, source=source) for value in reading.values}
    labels: dict[str | None, set[str]] = {}
    for label, card in meant.items():
        labels.setdefault(card.gpu_id, set()).add(label)
    judged: list[tuple[Value, str | None]] = []
    for value in reading.values:
        card = meant[value.label]
        if card.gpu_id is None or card.gpu_count != 1:
            judged.append((value.refused(f"the label means no single card: {card.status}"), None))
        elif len(labels[card.gpu_id]) > 1:
            judged.append((value.refused("another label of the chart means the same card"), card.gpu_id))
        else:
            judged.append((value, card.gpu_id))
    return judged


@dataclass(frozen=True, slots=True)
class _Picture:
    """A chart with the hash of its picture, the machine's reading, and its values with the cards that they mean."""

    chart: Chart
    sha256: str
    reading: ChartReading
    values: Sequence[tuple[Value, str | None]]


def with_charts(collected: Collected, source: Source, readings: Readings, archive: Archive, data: DataDir) -> Collected:
    """The batch with the values of its pictures, and without the Chart items, which no table holds."""
    charts = [item for item, _ in collected.rows if isinstance(item, Chart)]
    if not charts:
        return collected
    people = [
        transcription
        for url, sha256 in _files(collected, ".csv")
        for transcription in transcriptions.read_csv(archive.content_of(sha256), url)[0]
    ]
    plans = [
        plan
        for url, sha256 in _files(collected, ".toml")
        for plan in chart_plans.read_toml(archive.content_of(sha256), url)
    ]
    first = {url: archive.first(collected.source, url) or sha256 for url, sha256 in collected.images.items()}
    issues = transcriptions.match(charts, collected.images, people, first)
    work = _Work(source, readings, people, workloads.known(data.workloads), identities.identities_of(data).resolver)
    rows = [row for row in collected.rows if not isinstance(row[0], Chart)]
    issues += [_without_picture(plan) for plan in plans if not any(plan.means(chart) for chart in charts)]
    seen: set[str] = set()
    for chart in charts:
        sha256 = collected.images.get(chart.image_url)
        plans_of_chart = [plan for plan in plans if plan.means(chart)]
        plans_of_chart += [plan for plan in _of_people(people) if plan.means(chart)]
        if sha256 is None or not plans_of_chart or chart.image_url in seen:
            continue
        seen.add(chart.image_url)
        values, value_issues = work.rows_and_issues(chart, sha256, plans_of_chart)
        rows += [(item, sha256) for item in values]
        issues += value_issues
    return replace(
        collected, rows=rows, issues=[*collected.issues, *((issue, None) for issue in issues)],
        fetched=collected.fetched + work.read_now,
    )  # fmt: skip


def _files(collected: Collected, ending: str) -> list[tuple[str, str]]:
    return [(url, sha256) for url, sha256 in collected.parsed if url.endswith(ending)]


def _of_people(people: Sequence[Transcription]) -> Iterator[Plan]:
    """Plans for the transcribed charts whose transcription names its picture."""
    for transcription in people:
        if transcription.image_url is not None:
            yield Plan(
                article_url=transcription.article_url, workload_id=transcription.workload_id,
                published_on=transcription.published_on, image_url=transcription.image_url, series=None,
                title=transcription.chart,
            )  # fmt: skip


def _without_picture(plan: Plan) -> Issue:
    what = f"with {plan.caption!r} in its caption" if plan.caption else plan.image_url or "at all"
    message = f"the article shows no picture {what}: look at its captions, and correct the file of charts"
    return Issue(code="chart_missing", message=message, where=plan.workload_id, url=plan.article_url)


@dataclass(slots=True)
class _Work:
    """Reads pictures and compares them with what people read. `read_now` counts the readings that the run used."""

    _source: Source
    _readings: Readings
    _people: Sequence[Transcription]
    _known: Mapping[str, Workload]
    _resolver: Callable[[], Resolver]
    read_now: int = 0

    def rows_and_issues(
        self, chart: Chart, sha256: str, plans: Sequence[Plan]
    ) -> tuple[list[ChartValue | Score], list[Issue]]:
        """Rows and issues of one picture."""
        answer = self._readings(self._source, sha256)
        requested_plans = [plan for plan in plans if plan.series is not None]
        if answer is None:
            way_out = "pip install 'gpuledger[charts]', and leave the setting read_charts on"
            return [], [
                _issue("chart_unread", f"nobody has read it: {way_out}", chart, "info")
            ] if requested_plans else []
        self.read_now += 1
        if "reading" not in answer:
            message = f"{answer['code']}: {answer['problem']}; the picture is {sha256}"
            return [], [_issue("chart_unreadable", message, chart)]
        reading = ChartReading.from_json(answer["reading"])
        resolver = self._resolver()
        picture = _Picture(chart, sha256, reading, with_cards(reading, resolver, self._source.name))
        rows: list[ChartValue | Score] = []
        issues: list[Issue] = []
        if not reading.values and requested_plans:
            issues.append(_issue("chart_unreadable", reading.problem, chart))
        done: set[int] = set()
        for plan in plans:
            if plan.workload_id not in self._known:
                message = f"no workload is called {plan.workload_id!r}; `gpuledger workload add` adds one"
                issues.append(_issue("chart_workload", message, chart))
                continue
            series = plan.series if plan.series is not None else self._series(picture, plan, resolver)
            if series is None or series in done:
                continue
            done.add(series)
            series_rows, series_issues = self._series_rows(picture, plan, series, resolver)
            rows += series_rows
            issues += series_issues
        return rows, issues

    def _person(self, picture: _Picture, plan: Plan, resolver: Resolver) -> dict[str, Decimal]:
        """The figures that a person read in this picture for this workload, by card."""
        figures: dict[str, Decimal] = {}
        for transcription in self._people:
            if transcription.workload_id != plan.workload_id or transcription.image_url != picture.chart.image_url:
                continue
            for gpu_name, score in transcription.figures:
                gpu_id = resolver.resolve(gpu_name, source=self._source.name).gpu_id
                if gpu_id is not None:
                    figures[gpu_id] = score
        return figures

    def _series(self, picture: _Picture, plan: Plan, resolver: Resolver) -> int | None:
        """The series that a person transcribed: the one with most values equal to the person's.

        If no value agrees, it is the only series of the picture, or None if there are several.
        """
        figures = self._person(picture, plan, resolver)
        agreeing = Counter(
            value.series
            for value, gpu_id in picture.values
            if gpu_id in figures and value.number is not None and Decimal(value.number) == figures[gpu_id]
        )
        if agreeing:
            return agreeing.most_common(1)[0][0]
        every = {value.series for value, _ in picture.values}
        return every.pop() if len(every) == 1 else None

    def _series_rows(
        self, picture: _Picture, plan: Plan, series: int, resolver: Resolver
    ) -> tuple[list[ChartValue | Score], list[Issue]]:
        person, unit = self._person(picture, plan, resolver), self._known[plan.workload_id].unit
        title = plan.title or picture.chart.caption or picture.reading.title or picture.chart.image_url
        rows: list[ChartValue | Score] = []
        issues: list[Issue] = []
        doubtful = 0
        for position, (value, gpu_id) in enumerate(picture.values):
            if value.series != series:
                continue
            amount = Decimal(value.number) if value.number is not None else None
            read_by_eye = person.get(gpu_id) if gpu_id is not None else None
            rows.append(_row(picture, plan, position, (title, value, amount, read_by_eye)))
            if value.status == "quarantined":
                doubtful += read_by_eye is None
            elif read_by_eye is None:
                rows.append(
                    Score(
                        gpu_name=value.label, table=title, column=unit, workload_id=plan.workload_id, score=amount,
                        unit=unit, published_on=plan.published_on, article_url=picture.chart.article_url,
                        source_image=picture.chart.image_url,
                    )
                )  # fmt: skip
            elif read_by_eye != amount:
                message = (
                    f"{value.label} is {read_by_eye} as a person read it and {amount} as the machine did, and the person's "
                    f"counts; look at {value.box} of the picture {picture.sha256}"
                )
                issues.append(_issue("chart_differs", message, picture.chart))
        if doubtful:
            message = (
                f"{doubtful} values of {plan.workload_id} were not sure enough to be taken (core.chart_value says why): "
                f"`gpuledger evidence {picture.sha256[:12]} --print > chart.png`, then `gpuledger measure add` with what "
                "you read"
            )
            issues.append(_issue("chart_open", message, picture.chart))
        return rows, issues


def _row(
    picture: _Picture, plan: Plan, position: int, read: tuple[str, Value, Decimal | None, Decimal | None]
) -> ChartValue:
    title, value, amount, transcribed = read
    return ChartValue(
        article_url=picture.chart.article_url, image_url=picture.chart.image_url, chart=title, position=position,
        series=value.series, label=value.label, status=value.status, workload_id=plan.workload_id, value=amount,
        text=value.text, second_text=value.second_text, unit=value.unit, box=_box(value.box), bar=_box(value.bar),
        bar_px=_exact(value.bar_px), residual_px=_exact(value.residual_px),
        px_per_unit=_exact(picture.reading.px_per_unit), reason=value.reason or None,
        transcribed=transcribed,
    )  # fmt: skip


def _exact(pixels: float | None) -> Decimal | None:
    return None if pixels is None else Decimal(str(pixels))


def _box(box: Box | None) -> str | None:
    return " ".join(f"{side:g}" for side in box) if box else None


def _issue(code: str, message: str, chart: Chart, severity: str = "warning") -> Issue:
    full_message = f"the chart {chart.caption!r} ({chart.image_url}): {message}"
    return Issue(code=code, message=full_message, severity=severity, where=chart.image_url, url=chart.article_url)  # type: ignore[arg-type]
