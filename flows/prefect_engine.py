"""The same refresh under Prefect: one flow a run, a task a source, an artifact of what changed.

Prefect's state is a view and not the record: what happened stands in ops.run and in the run journal, and the warehouse is
published inside the flow's body, so a server that dies in the middle of a run takes nothing with it.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import Any

from extract.collect import Collected
from flows.context import Context
from flows.gather import Reader, Reading
from flows.refresh import Progress, run
from flows.summary import Summary

_log = logging.getLogger("gpuledger.prefect")


def prepare(context: Context) -> None:
    """Set Prefect up through its environment, before it is imported; what the user has set himself stays.

    No telemetry, no log lines beside our own, and, without a server of the user's, a home in the data directory: a
    temporary server must not share a database with another project's.
    """
    state = context.data.state
    state.mkdir(parents=True, exist_ok=True)
    defaults = {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "ERROR",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_CLI_PROMPT": "false",
    }
    if "PREFECT_API_URL" not in os.environ:
        defaults["PREFECT_HOME"] = str((state / "prefect").resolve())
        defaults["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] = "true"
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


def refresh(context: Context, progress: Progress) -> Summary:
    """One refresh as a Prefect flow run; the same tables as under the plain engine.

    A Prefect server that is lost on the way is said so in the summary; the warehouse is published all the same.
    """
    prepare(context)
    from prefect import flow, task
    from prefect.artifacts import create_table_artifact
    from prefect.cache_policies import NO_CACHE
    from prefect.futures import PrefectFuture
    from prefect.task_runners import ThreadPoolTaskRunner
    from prefect.tasks import exponential_backoff

    settings = context.settings
    done: list[Summary] = []
    threads: ThreadPoolTaskRunner[Any] = ThreadPoolTaskRunner(max_workers=settings.parallel_sources)

    @flow(
        name="refresh",
        flow_run_name=f"refresh {context.as_of:%Y-%m-%d %H:%M} {context.run_id[-6:]}",
        task_runner=threads,
        validate_parameters=False,
        persist_result=False,
    )
    def refresh_flow(run_id: str, as_of: str, sample_night: int | None) -> None:
        summary = run(context, read_all, progress)
        done.append(summary)
        with suppress(Exception):
            # A picture of the run for the UI; the run does not fail for it.
            create_table_artifact(
                key="what-changed",
                table=_changes(summary),
                description=f"{len(summary.changes)} prices changed, {len(summary.failed_sources)} sources failed",
            )
        if summary.published is None:
            raise RuntimeError(summary.reason or "nothing was published")

    def read_all(reader: Reader, readings: list[Reading], progress: Progress) -> list[Collected]:
        # The pages' own retries are the client's; a task's are for what nobody foresaw, a full disk for example. The
        # arguments stay out of Prefect: it would hash and serialize whole batches.
        by_name = {reading.source.name: reading for reading in readings}

        @task(
            name="read",
            task_run_name="read {source}",
            retries=2,
            retry_delay_seconds=exponential_backoff(backoff_factor=2),
            retry_jitter_factor=0.5,
            cache_policy=NO_CACHE,
            persist_result=False,
        )
        def read(source: str) -> Collected:
            collected = reader.read(by_name[source], lambda url: progress(source, url))
            progress(source, None)
            return collected

        futures: list[PrefectFuture[Collected]] = [read.submit(name) for name in by_name]
        return [future.result() for future in futures]

    try:
        refresh_flow(context.run_id, context.as_of.isoformat(), context.sample_night)
    except Exception as error:
        if not done:
            raise
        if done[0].published is not None:
            lost = f"the Prefect server was lost or refused the run's last state ({type(error).__name__})"
            note = f"{lost}; the warehouse is published"
            done[0].reason = note
            _log.warning(note)
    return done[0]


def _changes(summary: Summary) -> list[dict[str, str]]:
    """Rows of the artifact. One row that says so where nothing changed: an empty table looks like a broken one."""
    rows = [
        {
            "source": c.source,
            "title": c.title,
            "change": c.change,
            "from": c.old_price,
            "to": c.new_price,
            "in": c.currency,
        }
        for c in summary.changes
    ]
    return rows or [{"source": "", "title": "no price changed", "change": "", "from": "", "to": "", "in": ""}]
