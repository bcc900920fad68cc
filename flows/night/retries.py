"""Whether it helps to try a run again, and how to wait while another run is writing.

A site that was down may be up again, but a file that cannot be read stays unreadable.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from gpuledger.extract import errors
from gpuledger.flows.night.summary import Summary
from gpuledger.warehouse.errors import Locked

T = TypeVar("T")

#: How long a rebuild or a backfill waits for a refresh that is writing.
LOCK_WAIT_S = 1800.0

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


def can_help(summary: Summary) -> bool:
    """Whether a source, or a page of one, failed for a reason that may pass."""
    return any(
        (source.reason or "").partition(":")[0] in _PASSING for source in summary.sources if source.needs_somebody
    )


def when_free(work: Callable[[], T]) -> T:
    """Do `work` as soon as no other run is writing. Raises Locked after LOCK_WAIT_S seconds."""
    ends = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            return work()
        except Locked:
            if time.monotonic() > ends:
                raise
            # A random pause, so that ten waiting runs do not all try at the same moment.
            time.sleep(random.uniform(0.5, 1.5))
