"""What a run did, for the terminal, the log and Prefect's artifact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuledger import errors
from gpuledger.flows.night.left_out import LeftOut
from gpuledger.transform.build.run import Build
from gpuledger.transform.report.questions import Answered
from gpuledger.warehouse.integrity import name_of
from gpuledger.warehouse.ledger import PriceChange, SourceOutcome
from gpuledger.warehouse.load.offers import MissingRate

#: Errors that may pass in a quarter of an hour. All others stay until a person mends a parser, a file or a setting.
_PASSING = frozenset(
    kind.__name__
    for kind in (
        errors.Blocked, errors.ConnectionFailed, errors.EmptyBody, errors.OutOfTime, errors.RateLimited, errors.ServerError,
        errors.Timeout, errors.Truncated,
    )
)  # fmt: skip


class NothingPublished(Exception):
    """A run ended and published nothing. The message says why, and the log has it already."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of a run. `published` is the version's path, None if nothing was published.

    `unrated` are the prices of a bulk load that have no exchange rate. `left_out` are the sources that were not read, as
    their robots.txt or their terms forbid it. `damaged` names what a replay left out of the archive. `answered` are the kept
    questions, as they were asked of what was published.
    """

    run_id: str
    sources: Sequence[SourceOutcome] = ()
    builds: Sequence[Build] = ()
    changes: Sequence[PriceChange] = ()
    published: Path | None = None
    reason: str | None = None
    seconds: float = 0.0
    unrated: Sequence[MissingRate] = ()
    left_out: Sequence[LeftOut] = ()
    damaged: Sequence[str] = ()
    answered: Sequence[Answered] = field(default=(), repr=False)

    @property
    def version(self) -> str | None:
        """The name of the published version for people: its file, in the folder of its run."""
        return name_of(self.published) if self.published else None

    @property
    def failed_sources(self) -> list[SourceOutcome]:
        """Sources of which nothing was loaded, so that their last good data stay."""
        return [outcome for outcome in self.sources if outcome.is_failure]

    @property
    def degraded_sources(self) -> list[SourceOutcome]:
        """Sources that show far fewer rows than usual."""
        return [outcome for outcome in self.sources if outcome.status == "degraded"]

    @property
    def why(self) -> str | None:
        """The reason. If nothing was published it has the reason of each failed source too, as no table holds them then."""
        failed = failures(self.sources)
        return f"{self.reason}: {failed}" if failed and self.published is None else self.reason

    @property
    def status(self) -> str:
        """published, published_with_failures or failed."""
        return "failed" if self.published is None else published_status(self.sources)

    @property
    def exit_status(self) -> int:
        """0 if published, 1 if not. 3 if published although a source failed or is degraded, prices have no rate, or a replay
        left something damaged out.
        """
        status = {"failed": 1, "published": 0, "published_with_failures": 3}[self.status]
        return status or (3 if self.unrated or self.damaged else 0)


def published_status(sources: Sequence[SourceOutcome]) -> str:
    """The status of a run that is published."""
    return "published_with_failures" if any(outcome.needs_somebody for outcome in sources) else "published"


def failures(sources: Sequence[SourceOutcome]) -> str:
    """The reasons of all sources that failed or are degraded, as one text; empty if there are none."""
    return "; ".join(f"{outcome.source}: {outcome.reason}" for outcome in sources if outcome.needs_somebody)


def can_help(summary: Summary) -> bool:
    """Whether it helps to try the run again: a source, or a page of one, failed for a reason that may pass."""
    return any(
        (source.reason or "").partition(":")[0] in _PASSING for source in summary.sources if source.needs_somebody
    )
