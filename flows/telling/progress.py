"""The lines that a terminal shows while something long goes on: each step with how far it is and how long it took.

Where nobody watches, in a pipe or a log, nothing is shown: what came of it says the summary.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuledger.extract.redaction import redact
from gpuledger.flows.night.progress import SILENT, Progress, Step
from gpuledger.flows.setup.lang import gettext
from gpuledger.flows.telling import terminal

if TYPE_CHECKING:
    from rich.table import Table

#: Sources that are shown one by one while they are read; more would push the first lines out of a small window.
_MOST_SOURCES = 6
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def shown(quiet: bool = False) -> Iterator[Progress]:
    """Who is told of the work in the block: live lines on the terminal, nobody where there is none or `quiet` is set."""
    if quiet or not terminal.is_screen(stderr=True):
        yield SILENT
        return
    from rich.live import Live

    lines = Lines()
    with Live(get_renderable=lines.table, console=terminal.console(stderr=True), refresh_per_second=8):
        try:
            yield lines
        except BaseException:
            lines.end(failed=True)
            raise
        lines.end()


def _words() -> dict[Step, str]:
    """The steps in the order in which they are shown."""
    return {
        "verify": gettext("verify"), "read": gettext("read"), "replay": gettext("replay"), "check": gettext("check"),
        "load": gettext("load"), "identify": gettext("identify"), "build": gettext("build"), "audit": gettext("audit"),
        "publish": gettext("publish"), "ask": gettext("ask"), "models": gettext("models"), "write": gettext("write"),
        "export": gettext("export"),
    }  # fmt: skip


@dataclass(slots=True)
class _Work:
    """One step: seconds spent in it before it began last, and how far it is."""

    total: int | None = None
    done: int = 0
    what: str = ""
    spent: float = 0.0


@dataclass(slots=True)
class _Source:
    """One source: pages asked for, pages known, the address that it is at."""

    asked: int = 0
    known: int = 0
    url: str = ""
    is_read: bool = False


@dataclass(slots=True)
class Lines(Progress):
    """The steps as they stand, to be drawn at any moment. `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _steps: dict[Step, _Work] = field(default_factory=dict)
    _now: Step | None = None
    _since: float = 0.0
    _sources: dict[str, _Source] = field(default_factory=dict)
    _failed: Step | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def step(self, name: Step, total: int | None = None) -> None:
        """See Progress."""
        with self._lock:
            self._pause()
            work = self._steps.setdefault(name, _Work())
            work.total = work.total if total is None else total
            self._now, self._since = name, self.clock()

    def at(self, done: int, what: str = "") -> None:
        """See Progress."""
        with self._lock:
            if self._now is not None:
                work = self._steps[self._now]
                work.done, work.what = done, what

    def page(self, source: str, url: str, known: int) -> None:
        """See Progress."""
        with self._lock:
            one = self._sources.setdefault(source, _Source())
            one.asked, one.url = one.asked + 1, redact(url)
            one.known = max(known, one.asked)

    def source_done(self, source: str) -> None:
        """See Progress."""
        with self._lock:
            one = self._sources.setdefault(source, _Source())
            # What was known and not read in the end, as where the source failed, is known to be left.
            one.is_read = True

    def end(self, *, failed: bool = False) -> None:
        """Nothing more comes; the step that went on last has failed or is done."""
        with self._lock:
            self._failed = self._now if failed else None
            self._pause()
            self._now = None

    def _pause(self) -> None:
        if self._now is not None:
            work = self._steps[self._now]
            work.spent, work.what = work.spent + self.clock() - self._since, ""

    def table(self) -> Table:
        """A line a step, and one for each source that is being read."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        for options in ({}, {}, {}, {"width": 16}, {"ratio": 1}, {"justify": "right"}):
            table.add_column(no_wrap=True, overflow="ellipsis", **options)
        words, now = _words(), self.clock()
        with self._lock:
            for name in [step for step in words if step in self._steps]:
                work, is_now = self._steps[name], name == self._now
                spent = work.spent + (now - self._since if is_now else 0.0)
                if name == self._failed:
                    mark = Text("✗", "red")
                elif is_now:
                    mark = Text(_SPINNER[int(now * 8) % len(_SPINNER)], "cyan")
                else:
                    mark = Text("✓", "green")
                done, total = self._read() if name == "read" and self._sources else (work.done, work.total)
                bar = ProgressBar(total=total, completed=done, width=16) if is_now and total else Text()
                what = self._sources_read(work) if name == "read" and is_now else work.what
                table.add_row(mark, words[name], self._count(name, work), bar, Text(what, "dim"), duration(spent))
                if name == "read" and is_now:
                    self._add_sources(table)
        return table

    def _count(self, name: Step, work: _Work) -> str:
        if name == "read" and self._sources:
            done, known = self._read()
            return gettext("{done} of {known} pages").format(done=done, known=known)
        if work.total is None:
            return f"{work.done:,}" if work.done else ""
        return gettext("{done} of {known}").format(done=f"{work.done:,}", known=f"{work.total:,}")

    def _read(self) -> tuple[int, int]:
        """Pages that were read of all sources, and pages that are known; a page that is asked for is not read yet."""
        sources = self._sources.values()
        return sum(_done(one) for one in sources), sum(one.known for one in sources)

    def _sources_read(self, work: _Work) -> str:
        if work.total is None:
            return ""
        read = sum(one.is_read for one in self._sources.values())
        return gettext("{done} of {known} sources").format(done=read, known=work.total)

    def _add_sources(self, table: Table) -> None:
        from rich.text import Text

        going = [(name, one) for name, one in self._sources.items() if not one.is_read]
        for name, one in going[:_MOST_SOURCES]:
            place = one.url.partition("://")[2] or one.url
            count = gettext("{done} of {known}").format(done=_done(one), known=one.known)
            table.add_row("", "", Text(name, "dim"), Text(count, "dim"), Text(place, "dim"), "")
        if len(going) > _MOST_SOURCES:
            more = gettext("{count} more").format(count=len(going) - _MOST_SOURCES)
            table.add_row("", "", Text(more, "dim"), "", "", "")


def _done(source: _Source) -> int:
    return source.asked if source.is_read else max(0, source.asked - 1)


def duration(seconds: float) -> str:
    """`4.2 s` below a minute, `3:07` from there on, `1:02:45` from an hour on."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
