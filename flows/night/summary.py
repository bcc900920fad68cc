"""What a run did, for the terminal, the log and Prefect's artifact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuledger.transform.build.run import Build
from gpuledger.warehouse.ledger import PriceChange, SourceOutcome


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of a run. `published` is the version's path, None where nothing was published."""

    run_id: str
    sources: Sequence[SourceOutcome] = ()
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
        said = failures(self.sources)
        return f"{self.reason}: {said}" if said and self.published is None else self.reason

    @property
    def status(self) -> str:
        """published, published_with_failures or failed."""
        return "failed" if self.published is None else published_status(self.sources)

    @property
    def exit_status(self) -> int:
        """0 published, 1 nothing published, 3 published with a failed source."""
        return {"failed": 1, "published": 0, "published_with_failures": 3}[self.status]


def published_status(sources: Sequence[SourceOutcome]) -> str:
    """The status of a run that is published."""
    return "published_with_failures" if any(outcome.is_failure for outcome in sources) else "published"


def failures(sources: Sequence[SourceOutcome]) -> str:
    """What each failed source said; empty where none failed."""
    return "; ".join(f"{outcome.source}: {outcome.reason}" for outcome in sources if outcome.is_failure)
