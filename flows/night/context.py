"""The settings, paths and times of one run, and whom it tells how far it is, without knowing how that is shown.

Every step receives them, and reads no clock, environment or global itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeVar

from gpuledger.flows.settings.settings import Settings
from gpuledger.warehouse.paths import DataDir

#: What a run is done by; `published` takes in what somebody published, and reads nothing.
Engine = Literal["prefect", "plain", "published"]
#: The steps of all long work, in the order in which a night comes to them. A step that comes again goes on where it was.
Step = Literal[
    "start", "verify", "read", "replay", "check", "load", "identify", "build", "audit", "publish", "ask", "write",
    "export",
]  # fmt: skip
_Part = TypeVar("_Part")


class Progress:
    """Hears where the work is. This base class shows nothing. Several threads call it while sources are read."""

    def step(self, name: Step, total: int | None = None) -> None:
        """A step begins and the previous one has ended. It has `total` parts, if that is known."""

    def at(self, done: int, what: str = "") -> None:
        """`done` parts of the step are done, and the work is now at `what`."""

    def page(self, source: str, url: str) -> None:
        """A source requests a page."""

    def source_done(self) -> None:
        """A source was read to its end: one part of the step is done."""

    def each(self, parts: Iterable[_Part]) -> Iterator[_Part]:
        """Yields the parts of the step and counts each when it is done."""
        for done, part in enumerate(parts, start=1):
            yield part
            self.at(done)


SILENT = Progress()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One run. `as_of` (UTC) dates everything that the run loads. `only` names the sources to read, None for all.

    `tick` is the scheduled time that the run stands for, None if a person or an event started it. `progress` hears how far
    the run is.
    """

    settings: Settings
    data: DataDir
    run_id: str
    as_of: datetime
    started_at: datetime
    engine: Engine
    sample_night: int | None = None
    only: tuple[str, ...] | None = None
    tick: datetime | None = None
    progress: Progress = SILENT


def context_now(settings: Settings, data: DataDir, engine: Engine = "plain") -> Context:
    """A run that starts now and counts as now."""
    now = utc_now()
    return Context(settings=settings, data=data, run_id=new_run_id(), as_of=now, started_at=now, engine=engine)


def new_run_id() -> str:
    """A new id. Ids sort by the microsecond in which they were made, as versions are kept in the order of their names."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{secrets.token_hex(3)}"


def utc_now() -> datetime:
    """The machine's clock, in whole seconds of UTC."""
    return datetime.now(UTC).replace(microsecond=0)
