"""What a refresh shows while it runs and when it is done: live lines in a terminal, plain lines in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from gpuledger.extract.redaction import redact
from gpuledger.flows.night.refresh import Progress as Report
from gpuledger.flows.night.refresh import no_progress
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import terminal
from gpuledger.flows.telling.clean import clean
from gpuledger.transform.answers.held import HeldPrice, held
from gpuledger.transform.answers.refused import RefusedRow, refused
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {
    "ok": "green",
    "unchanged": "dim",
    "partial": "yellow",
    "degraded": "yellow",
    "failed": "red",
    "refused": "red",
}


@contextmanager
def shown(quiet: bool) -> Iterator[Report]:
    """A report that draws a live line a source in a terminal, and prints a line a source elsewhere."""
    console = terminal.console(stderr=True)
    if quiet:
        yield no_progress
    elif console.is_terminal:
        with Progress(
            SpinnerColumn(), TextColumn("{task.fields[source]:<20}", markup=False), BarColumn(bar_width=12),
            TextColumn("{task.completed:>3.0f} pages", markup=False),
            TextColumn("{task.description}", style="dim", markup=False), TimeElapsedColumn(),
            console=console, transient=True,
        ) as bars:  # fmt: skip
            yield _Live(bars)
    else:
        yield _plain_line(console)


class _Live:
    """One line a source, made when its first page starts."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, source: str, url: str | None) -> None:
        if source not in self._tasks:
            self._tasks[source] = self._bars.add_task("", source=source, total=None)
        task = self._tasks[source]
        if url is None:
            self._bars.update(task, description="read", total=1, completed=1)
        else:
            self._bars.update(task, description=clean(redact(url))[-60:], advance=1)


def _plain_line(console: Console) -> Report:
    pages: dict[str, int] = {}

    def report(source: str, url: str | None) -> None:
        if url is not None:
            pages[source] = pages.get(source, 0) + 1
        else:
            console.print(f"read {source}: {pages.get(source, 0)} pages", highlight=False)

    return report


def show_summary(summary: Summary, data: DataDir) -> None:
    """A table of the sources, what changed, what was rebuilt, and where the files are."""
    console = terminal.console()
    if not console.is_terminal:
        console = terminal.console(width=max(160, console.width))
    console.print(_sources(summary))
    for outcome in summary.failed_sources:
        stands = "; its last good data stand, marked stale" if summary.published else ""
        why = f"{clean(outcome.reason or '')}{stands}"
        console.print(Text.assemble((f"{outcome.source} {outcome.status}: ", "bold red"), why))
    for outcome in summary.degraded_sources:
        console.print(Text.assemble((f"{outcome.source} degraded: ", "bold yellow"), clean(outcome.reason or "")))
    for outcome in summary.sources:
        if outcome.drift:
            more = f" and {len(outcome.drift) - 3} more" if len(outcome.drift) > 3 else ""
            text = f"{clean('; '.join(outcome.drift[:3]))}{more}; `gpuledger sources diff {outcome.source}` shows the pages"
            console.print(Text.assemble((f"{outcome.source} drifts: ", "bold yellow"), text))
    if summary.changes:
        console.print(_changes(summary))
    if summary.published is None:
        console.print(
            Text(
                f"nothing was published: {summary.reason}; the last good warehouse, if there is one, stays", "bold red"
            )
        )
        return
    if summary.reason:
        console.print(Text(summary.reason, "yellow"))
    for line in (*_held(held(data)), *_refused(refused(data, summary.run_id))):
        console.print(Text(line, "yellow"), soft_wrap=True)
    rebuilt = [build for build in summary.builds if build.action == "rebuilt"]
    console.print(f"{len(rebuilt)} models rebuilt, {len(summary.builds) - len(rebuilt)} kept", highlight=False)
    # A first build says the same of every model; what is worth reading is why one was built again.
    for build in (build for build in rebuilt if build.reason != "first build"):
        console.print(Text(f"  {build.model}: {build.reason}", "dim"))
    console.print(f"warehouse  {data.published} -> {summary.version}", highlight=False, soft_wrap=True)
    console.print(f"CSV files  {data.exports}", highlight=False, soft_wrap=True)


def _sources(summary: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold")
    table.add_column("source")
    table.add_column("status")
    for heading in ("pages", "parsed", "loaded", "quarantined", "duplicate", "changed", "issues"):
        table.add_column(heading, justify="right")
    for s in summary.sources:
        counts = (s.pages, s.parsed, s.loaded, s.quarantined, s.duplicate, s.changed, s.issues)
        table.add_row(s.source, Text(s.status, _COLOURS[s.status]), *(str(count) if count else "·" for count in counts))
    return table


def _held(prices: Sequence[HeldPrice]) -> Iterator[str]:
    """A line for each rule that holds prices, with the setting to change where it is too strict."""
    for (hold, bound), count in sorted(Counter((price.hold, price.bound or "") for price in prices).items()):
        rule = f"by {bound} ({hold})" if bound else f"({hold})"
        yield f"{count} price{'s are' if count > 1 else ' is'} held {rule} until seen again: `gpuledger release` lists them"


def _refused(rows: Sequence[RefusedRow], most: int = 5) -> Iterator[str]:
    """A line for each row that the audit took out of a table; the rest are counted."""
    for row in rows[:most]:
        yield f"{row.model} is published without the row {row.row_key}: {row.reason}"
    if len(rows) > most:
        yield f"{len(rows) - most} more rows are left out; ops.refused_row has them all"


def _changes(summary: Summary, most: int = 12) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", title="Prices that changed", title_justify="left")
    for heading in ("source", "title", "change"):
        table.add_column(heading)
    for heading in ("from", "to"):
        table.add_column(heading, justify="right")
    shown = [change for change in summary.changes if change.change != "appeared"] or list(summary.changes)
    for change in shown[:most]:
        old, new = (
            f"{p.removesuffix('00')} {change.currency}" if p else "" for p in (change.old_price, change.new_price)
        )
        table.add_row(change.source, Text(clean(change.title)[:70]), change.change, old, new)
    if len(summary.changes) > len(shown[:most]):
        table.caption = f"{len(summary.changes) - len(shown[:most])} more in core.price_change"
        table.caption_justify = "left"
    return table
