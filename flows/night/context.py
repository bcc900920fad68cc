"""The settings, paths and times of one run. Every step receives them, and reads no clock, environment or global itself."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from gpuledger.flows.night.progress import SILENT, Progress
from gpuledger.flows.settings.settings import Settings
from gpuledger.warehouse.paths import DataDir

Engine = Literal["prefect", "plain"]


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
