"""The same refresh under Prefect: a flow for each run, a task for each source, artifacts of the results.

Prefect's state is a view and not the record. The record is in ops.run and in the log of runs, and the warehouse is published
inside the flow's body. So if the server dies in the middle of a run, nothing is lost.

Shown by tests/flows/test_engines.py (the same tables), tests/ops/test_server_lost.py (a server that dies or is not there)
and tests/ops/test_current_folder.py (no file of the current folder names the server).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gpuledger import child
from gpuledger.extract.archive import files
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import read_plain
from gpuledger.flows.night.refresh import run_locked
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.prefect_ import api, temporary
from gpuledger.warehouse.paths import DataDir

_log = logging.getLogger("gpuledger.prefect")


def prepare(data: DataDir, log_level: str = "CRITICAL") -> Path:
    """Set Prefect up through its environment, before it is imported. Variables that the user has set stay as they are.

    Prefect then sends no telemetry and logs nothing below `log_level`. Returns a folder for Prefect's files, which only this
    user may read.
    """
    files.make_folder(data.state)
    for name, value in {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": log_level,
        "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_CLI_PROMPT": "false",
        # With a server that is gone a call takes 2 + 4 + 8 seconds and not a minute. Two calls come after the publish.
        "PREFECT_CLIENT_MAX_RETRIES": "3",
    }.items():
        os.environ.setdefault(name, value)
    os.environ.update(child.search())  # for the processes that Prefect starts
    return files.make_folder(data.state / "prefect").resolve()


@contextmanager
def server(home: Path) -> Iterator[None]:
    """A Prefect server for the block: the one that PREFECT_API_URL names, or else a temporary one with its files in `home`.

    Its database stays there, as a new one takes longer to make than a night to read.
    """
    if os.environ.get("PREFECT_API_URL"):
        api.ignore_the_current_folder()
        yield
        return
    os.environ.setdefault("PREFECT_HOME", str(home))
    # Files that Prefect reads in its home. There they could only be a stranger's, and run code by the names of handlers.
    for name in ("PREFECT_PROFILES_PATH", "PREFECT_LOGGING_CONFIG_PATH"):
        os.environ.setdefault(name, f"{os.devnull}/none")
    with temporary.running() as own:
        api.ignore_the_current_folder()
        from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

        # Imported while the server starts.
        from gpuledger.flows.prefect_ import run  # noqa: F401

        own.wait()
        # In Prefect's settings and not in this process's environment, which every process started here inherits.
        with temporary_settings(updates={PREFECT_API_URL: own.api_url, PREFECT_API_AUTH_STRING: own.credential}):
            yield


def refresh(context: Context) -> Summary:
    """One refresh as a Prefect flow run. It makes the same tables as the plain engine.

    If the Prefect server cannot be reached, or is lost on the way, the warehouse is published all the same, and the summary
    says so. Raises what `flows.night.refresh.run` raises; Locked comes before anything of Prefect is started.
    """
    with writing(context.data):
        context.progress.step("start")
        home = prepare(context.data)
        run = _FlowRun(context)
        try:
            with server(home):
                run.start()
        except Exception as error:
            if not run.has_begun:
                _log.warning("the Prefect server cannot be used (%s: %s)", type(error).__name__, error)
                summary = run_locked(context, read_plain)
                return with_note(summary, "the Prefect server could not be used, so the run went on without it")
            if run.summary is None:
                raise
            if run.summary.published is None:
                return run.summary
            lost = f"the Prefect server was lost or refused the run's last state ({type(error).__name__})"
            return with_note(run.summary, lost)
        assert run.summary is not None
        return run.summary


def with_note(summary: Summary, lost: str) -> Summary:
    """The summary of a published run, with a note on what went wrong with Prefect. A failed run keeps its own reason."""
    if summary.published is None:
        return summary
    reason = f"{lost}; the warehouse is published"
    _log.warning(reason)
    return replace(summary, reason=reason)


@contextmanager
def _impatient() -> Iterator[None]:
    """Within the block, an event that the server does not take is tried once more and then dropped.

    Prefect by itself tries each event eleven times, with pauses. If the server is gone, the exit then takes minutes.
    """
    from prefect.events.clients import PrefectEventsClient
    from prefect.events.worker import EventsWorker, emit_events_to_cloud
    from prefect.settings import PREFECT_API_URL

    if emit_events_to_cloud():
        yield
        return
    EventsWorker.set_client_override(PrefectEventsClient, api_url=PREFECT_API_URL.value(), reconnection_attempts=1)
    try:
        yield
    finally:
        EventsWorker.set_client_override(None)


class _FlowRun:
    """One flow run, and how far its body came: Prefect may fail before the body begins, or after it is done."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.has_begun = False
        self.summary: Summary | None = None

    def start(self) -> None:
        """Run the flow. Raises if Prefect fails, or if nothing was published."""
        from prefect import flow

        from gpuledger.flows.prefect_ import run as prefect_run

        context = self._context

        @flow(
            name="refresh",
            flow_run_name=f"refresh {context.as_of:%Y-%m-%d %H:%M} {context.run_id[-6:]}",
            validate_parameters=False,
            persist_result=False,
        )
        def refresh_flow(run_id: str, as_of: str, sample_night: int | None) -> None:
            self.has_begun = True
            self.summary = prefect_run.refresh(context)
            if self.summary.published is None:
                raise RuntimeError(self.summary.reason or "nothing was published")

        with _impatient():
            refresh_flow(context.run_id, context.as_of.isoformat(), context.sample_night)
