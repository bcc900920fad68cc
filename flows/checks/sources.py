"""Fetch one page of each source and say what would be read from it. Nothing is archived, loaded or published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from gpuledger.errors import ExtractError
from gpuledger.extract import source as sources
from gpuledger.extract.collect import Reading, parse_page
from gpuledger.extract.pages import as_page, read_file
from gpuledger.flows.night import gather
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import Reader
from gpuledger.items import Aside, Issue, Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was read from one page of a source. `status` is `idle` if the settings name no page of it, which is no failure.

    `counts` has the number of items and links by kind. `reason` says what went wrong, or which setting is missing.
    """

    source: str
    status: Literal["ok", "failed", "idle"]
    url: str | None = None
    counts: Mapping[str, int] | None = None
    first: Item | None = None
    issues: Sequence[Issue] = ()
    reason: str | None = None


def check(context: Context) -> list[Checked]:
    """Check one page of every source of this run, several at a time. The results are sorted by the name of the source."""
    readings = gather.readings(context)
    names = context.only or context.settings.sources or sources.names()
    idle = [
        Checked(source=name, status="idle", reason=gather.nothing_to_read(name, context))
        for name in {*names} - {reading.source.name for reading in readings}
    ]

    def check_one(reading: Reading) -> Checked:
        try:
            return _check(reading, reader)
        finally:
            context.progress.source_done()

    context.progress.step("read", len(readings))
    with gather.reader(context) as reader, ThreadPoolExecutor(context.settings.parallel_sources) as threads:
        results = list(threads.map(check_one, readings))
    return sorted([*results, *idle], key=lambda checked: checked.source)


def _check(reading: Reading, reader: Reader) -> Checked:
    name = reading.source.name
    url = reading.starts[0] if reading.starts else f"file:{reading.files[0].path.name}"
    reader.context.progress.page(name, url)
    try:
        fetched = reader.fetching(reading).answer(url) if reading.starts else read_file(reading.files[0])
        parsed = parse_page(reading.source, as_page(fetched, reader.context.as_of))
    except (ExtractError, OSError) as error:
        reason = str(error)
        if isinstance(error, ExtractError):
            reason = f"{type(error).__name__}: {error.seen}; {error.action}"
        return Checked(source=name, status="failed", url=url, reason=reason)
    items = [item for item in parsed if not isinstance(item, Aside)]
    issues = [issue for issue in parsed if isinstance(issue, Issue)]
    counts = Counter(item.KIND for item in parsed if not isinstance(item, Issue))
    problem = None if counts else "neither an item nor a link: compare the page with the source's fixture"
    return Checked(
        source=name, status="failed" if problem else "ok", url=url, counts=dict(sorted(counts.items())),
        first=items[0] if items else None, issues=issues, reason=problem,
    )  # fmt: skip
