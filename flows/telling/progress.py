"""Live lines on the terminal while a long command works: each step with how far it is and how long it took.

In a pipe or a log, where nobody watches, nothing is shown. The summary at the end gives the result there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.night.context import SILENT, Progress, Step
from gpuledger.flows.words.lang import gettext
from gpuledger.redaction import redact

if TYPE_CHECKING:
    from rich.table import Table

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def live_lines(quiet: bool = False) -> Iterator[Progress]:
    """Gives the Progress to report the work in the block to: live lines on the terminal.

    Without a terminal, or if `quiet` is set, it shows nothing.
    """
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


def _step_names() -> dict[Step, str]:
    """The steps in the language in use, in the order in which they are shown."""
    return {
        "start": gettext("start"), "verify": gettext("verify"), "read": gettext("read"), "replay": gettext("replay"),
        "check": gettext("check"),
        "load": gettext("load"), "identify": gettext("identify"), "build": gettext("build"), "audit": gettext("audit"),
        "publish": gettext("publish"), "ask": gettext("ask"), "write": gettext("write"),
        "export": gettext("export"),
    }  # fmt: skip


@dataclass(slots=True)
class _Work:
    """One step: how far it is, and the seconds spent in it, not counting the time since it was last resumed."""

    total: int | None = None
    done: int = 0
    what: str = ""
    spent: float = 0.0


@dataclass(slots=True)
class Lines(Progress):
    """The present state of all steps, which can be drawn at any moment. `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _steps: dict[Step, _Work] = field(default_factory=dict)
    _now: Step | None = None
    _since: float = 0.0
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

    def page(self, source: str, url: str) -> None:
        """See Progress."""
        with self._lock:
            if self._now is not None:
                self._steps[self._now].what = f"{source}: {redact(url).partition('://')[2]}"

    def source_done(self) -> None:
        """See Progress."""
        with self._lock:
            if self._now is not None:
                self._steps[self._now].done += 1

    def end(self, *, failed: bool = False) -> None:
        """The work is over. The last step has failed or is done."""
        with self._lock:
            self._failed = self._now if failed else None
            self._pause()
            self._now = None

    def _pause(self) -> None:
        if self._now is not None:
            work = self._steps[self._now]
            work.spent, work.what = work.spent + self.clock() - self._since, ""

    def table(self) -> Table:
        """One line for each step."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        for options in ({}, {}, {}, {"width": 16}, {"ratio": 1}, {"justify": "right"}):
            table.add_column(no_wrap=True, overflow="ellipsis", **options)
        step_names, now = _step_names(), self.clock()
        with self._lock:
            for name in [step for step in step_names if step in self._steps]:
                work, is_now = self._steps[name], name == self._now
                spent = work.spent + (now - self._since if is_now else 0.0)
                if name == self._failed:
                    mark = Text("✗", "red")
                elif is_now:
                    mark = Text(_SPINNER[int(now * 8) % len(_SPINNER)], "cyan")
                else:
                    mark = Text("✓", "green")
                bar = ProgressBar(total=work.total, completed=work.done, width=16) if is_now and work.total else Text()
                table.add_row(mark, step_names[name], _count(work), bar, Text(work.what, "dim"), duration(spent))
        return table


def _count(work: _Work) -> str:
    if work.total is None:
        return f"{work.done:,}" if work.done else ""
    return gettext("{done} of {known}").format(done=f"{work.done:,}", known=f"{work.total:,}")


def duration(seconds: float) -> str:
    """`4.2 s` below a minute, `3:07` from a minute on, `1:02:45` from an hour on."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest_s:02}" if hours else f"{minutes}:{rest_s:02}"
