"""What follows a run, whichever engine it ran under: its log lines, the watches, and telling people.

Nothing here can fail a run: it is over, and what it published stands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from flows import logs
from flows.context import Context
from flows.summary import Summary
from warehouse.errors import Locked

_log = logging.getLogger("gpuledger.after")


def reported(context: Context, work: Callable[[], Summary]) -> Summary:
    """Do `work`, one run, and report it: what it returns is logged and told; what it raises is told and raised on.

    Locked is nobody's failure: another run is at work.
    """
    try:
        summary = work()
    except Locked:
        raise
    except Exception as error:
        after_run(context, Summary(context.run_id, reason=f"{type(error).__name__}: {error}"))
        raise
    after_run(context, summary)
    return summary


def after_run(context: Context, summary: Summary) -> None:
    """Log the run a line a source, look at the watches, and tell people what they asked to be told."""
    logs.summary(summary)
