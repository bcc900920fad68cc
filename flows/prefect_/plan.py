"""What `gpuledger serve` serves: the data directory, and when its nights are due."""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.flows.settings.settings import Settings
from gpuledger.warehouse.paths import DataDir


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to serve: one data directory, on one schedule."""

    settings: Settings
    data: DataDir
    cron: str
    time_zone: str
    sample: bool = False
