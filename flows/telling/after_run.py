"""What happens after a run, under either engine: write its log lines, look at the watches, and send notifications.

Nothing here can make a run fail. The run is over, and what it published stays published.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.showing.terminal import clean
from gpuledger.flows.telling import alerts, logs, notify
from gpuledger.flows.telling.notify import LoadBlocks
from gpuledger.flows.telling.redact import Redactor
from gpuledger.warehouse.errors import Locked

_log = logging.getLogger("gpuledger.after")


def run_and_report(context: Context, work: Callable[[], Summary], load_blocks: LoadBlocks) -> Summary:
    """Do `work`, which is one run, then log its summary and send notifications about it.

    If `work` raises, notifications about the failure are sent and the error is raised again. Locked is the exception: it
    only means that another run is at work, so nobody is notified.
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
    """Log the run with one line for each source, look at the watches, and send the notifications that are due.

    Waits for the notification targets no longer than the setting notify_deadline_s. Never raises, because the run is over
    and what it published stays published.
    """
    logs.summary(summary)
    try:
        started_at = time.monotonic()
        urls = notify.targets(context.settings, load_blocks)
        remaining_s = max(0.0, context.settings.notify_deadline_s - (time.monotonic() - started_at))
        if not urls and not _log.isEnabledFor(logging.INFO):
            return  # nobody would hear the answer, and finding it out reads the warehouse three times
        redact = Redactor((*context.settings.notify_urls, *urls))
        due = alerts.due(context, summary, is_heard=bool(urls))
        messages = [replace(m, title=clean(redact(m.title)), body=clean(redact(m.body), keep_lines=True)) for m in due]
        notify.send(context.data.state / "outbox", messages, urls, remaining_s)
    except Exception as error:  # noqa: BLE001
        logs.event(_log, logging.ERROR, "nobody could be told", error=f"{type(error).__name__}: {error}")
