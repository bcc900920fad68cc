"""What follows a run, whichever engine it ran under: its log lines, the watches, and telling people.

Nothing here can fail a run: it is over, and what it published stands.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import alerts, logs, notify
from gpuledger.flows.telling.clean import clean
from gpuledger.flows.telling.notify import LoadBlocks
from gpuledger.flows.telling.redact import Redactor
from gpuledger.warehouse.errors import Locked

_log = logging.getLogger("gpuledger.after")


def reported(context: Context, work: Callable[[], Summary], load_blocks: LoadBlocks) -> Summary:
    """Do `work`, one run, and report it: what it returns is logged and told; what it raises is told and raised on.

    Locked is nobody's failure: another run is at work.
    """
    try:
        summary = work()
    except Locked:
        raise
    except Exception as error:
        after_run(context, Summary(context.run_id, reason=f"{type(error).__name__}: {error}"), load_blocks)
        raise
    after_run(context, summary, load_blocks)
    return summary


def after_run(context: Context, summary: Summary, load_blocks: LoadBlocks) -> None:
    """Log the run a line a source, look at the watches, and tell people what they asked to be told.

    Waits at most the setting notify_deadline_s for those who are told, and never raises: the run is over, and what it
    published stands.
    """
    logs.summary(summary)
    try:
        asked_at = time.monotonic()
        urls = notify.targets(context.settings, load_blocks)
        left_s = max(0.0, context.settings.notify_deadline_s - (time.monotonic() - asked_at))
        if not urls and not _log.isEnabledFor(logging.INFO):
            return  # nobody hears what it would take three readings of the warehouse to find out
        redact = Redactor((*context.settings.notify_urls, *urls))
        due = alerts.due(context, summary, is_heard=bool(urls))
        messages = [replace(m, title=clean(redact(m.title)), body=clean(redact(m.body), keep_lines=True)) for m in due]
        notify.send(context.data.state / "outbox", messages, urls, left_s)
    except Exception as error:  # noqa: BLE001
        logs.event(_log, logging.ERROR, "nobody could be told", error=f"{type(error).__name__}: {error}")
