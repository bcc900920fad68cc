"""What a run did, for the terminal, the log and Prefect's artifact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gpuledger.transform.build.run import Build

SourceStatus = Literal["ok", "unchanged", "partial", "failed", "refused"]


@dataclass(slots=True)
class SourceOutcome:
    """One source of one run. parsed = loaded + quarantined + duplicate, and a failed source has loaded nothing."""

    source: str
    status: SourceStatus
    reason: str | None = None
    pages: int = 0
    pages_unchanged: int = 0
    size_bytes: int = 0
    parsed: int = 0
    loaded: int = 0
    quarantined: int = 0
    duplicate: int = 0
    changed: int = 0
    issues: int = 0
    seconds: float = 0.0

    @property
    def is_failure(self) -> bool:
        """The last good data of the source stand."""
        return self.status in ("failed", "refused")


@dataclass(frozen=True, slots=True)
class PriceChange:
    """One change of a listing, as core.price_change has it."""

    source: str
    title: str
    change: str
    old_price: str
    new_price: str
    currency: str


@dataclass(slots=True)
class Summary:
    """The outcome of a run. `published` is the version's path, None where nothing was published."""

    run_id: str
    sources: list[SourceOutcome] = field(default_factory=list)
    builds: Sequence[Build] = ()
    changes: Sequence[PriceChange] = ()
    published: Path | None = None
    reason: str | None = None
    seconds: float = 0.0

    @property
    def failed_sources(self) -> list[SourceOutcome]:
        """Sources whose last good data stand."""
        return [outcome for outcome in self.sources if outcome.is_failure]

    @property
    def why(self) -> str | None:
        """The reason, with what each failed source said where nothing was published: nobody else will say it then."""
        said = "; ".join(f"{source.source}: {source.reason}" for source in self.failed_sources)
        return f"{self.reason}: {said}" if said and self.published is None else self.reason

    @property
    def status(self) -> str:
        """published, published_with_failures or failed."""
        if self.published is None:
            return "failed"
        return "published_with_failures" if self.failed_sources else "published"

    @property
    def exit_status(self) -> int:
        """0 published, 1 nothing published, 3 published with a failed source."""
        return {"failed": 1, "published": 0, "published_with_failures": 3}[self.status]
