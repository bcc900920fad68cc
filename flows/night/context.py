"""What one run works with, handed to every step: no step asks a clock, the environment or a global for it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from gpuledger.flows.night.progress import SILENT, Progress
from gpuledger.flows.setup.settings import Settings
from gpuledger.warehouse.paths import DataDir

Engine = Literal["prefect", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One run. `as_of` (UTC) dates everything that it loads; `only` names the sources to read, None for all.

    `tick` is the time of the schedule that it stands for, None where a person or an event started it. `progress` is told
    how far the run is.
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


def new_run_id() -> str:
    """Sorts by the moment that it was made, in microseconds: versions are kept in the order of their names."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{secrets.token_hex(3)}"


def utc_now() -> datetime:
    """The machine's clock, in whole seconds of UTC."""
    return datetime.now(UTC).replace(microsecond=0)
