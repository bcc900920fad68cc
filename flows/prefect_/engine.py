"""The same refresh under Prefect: one flow a run, a task a source, artifacts of what came of it.

Prefect's state is a view and not the record: what happened stands in ops.run and in the log of runs, and the warehouse is
published inside the flow's body, so a server that dies in the middle of a run takes nothing with it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from gpuledger.flows.night.context import Context
from gpuledger.flows.night.refresh import read_plain, run_locked
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.prefect_ import server as prefect_server
from gpuledger.flows.prefect_.processes import guarded
from gpuledger.warehouse import private
from gpuledger.warehouse.paths import DataDir

_log = logging.getLogger("gpuledger.prefect")


def prepare(data: DataDir, log_level: str = "CRITICAL") -> None:
    """Set Prefect up through its environment, before it is imported; what the user has set himself stays.

    No telemetry, of Prefect's own log nothing below `log_level`, and, without a server of the user's, a home in the data
    directory: a server of our own must not share a database with another project's.
    """
    private.make_folder(data.state)
    defaults = {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": log_level,
        "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_CLI_PROMPT": "false",
        # A server that is gone costs 2 + 4 + 8 seconds a call and not a minute; there are two calls after the publish.
        "PREFECT_CLIENT_MAX_RETRIES": "3",
    }
    if not has_own_server():
        defaults["PREFECT_HOME"] = str((data.state / "prefect").resolve())
        # Of a server that is not used here: it would go before the credential of ours in the runs' processes.
        os.environ.pop("PREFECT_API_AUTH_STRING", None)
    for name, value in defaults.items():
        os.environ.setdefault(name, value)


def has_own_server() -> bool:
    """Whether the user names a Prefect server; then none is started here."""
    return bool(os.environ.get("PREFECT_API_URL"))


@contextmanager
def server(data: DataDir) -> Iterator[None]:
    """A Prefect server for the block: the user's where one is named, else one of our own that ends with the block."""
    if has_own_server():
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(guarded(data.state))
        own = stack.enter_context(prefect_server.running(data.state))
        stack.enter_context(connected(own))
        yield


@contextmanager
def connected(own: prefect_server.Server) -> Iterator[None]:
    """Use our own server for the block, whether or not Prefect was imported before.

    Its credential stands in Prefect's settings and not in this process's environment, which anything that it starts gets.
    """
    from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

    with temporary_settings(updates={PREFECT_API_URL: own.api_url, PREFECT_API_AUTH_STRING: own.credential}):
        yield


def refresh(context: Context) -> Summary:
    """One refresh as a Prefect flow run; the same tables as under the plain engine.

    A Prefect server that cannot be reached, or that is lost on the way, is said so in the summary, and the warehouse is
    published all the same. Raises what `flows.night.refresh.run` raises; Locked before anything of Prefect is started.
    """
    with writing(context.data):
        prepare(context.data)
        run = _FlowRun(context)
        try:
            with server(context.data):
                run.start()
        except Exception as error:
            if not run.has_begun:
                _log.warning("the Prefect server cannot be used (%s: %s)", type(error).__name__, error)
                summary = run_locked(context, read_plain)
                return noted(summary, "the Prefect server could not be used, so the run went on without it")
            if run.summary is None:
                raise
            if run.summary.published is None:
                return run.summary
            lost = f"the Prefect server was lost or refused the run's last state ({type(error).__name__})"
            return noted(run.summary, lost)
        assert run.summary is not None
        return run.summary


def noted(summary: Summary, lost: str) -> Summary:
    """The summary of a published run with what went wrong with Prefect; one that failed keeps its own reason."""
    if summary.published is None:
        return summary
    reason = f"{lost}; the warehouse is published"
    _log.warning(reason)
    return replace(summary, reason=reason)


@contextmanager
def _impatient() -> Iterator[None]:
    """An event that the server does not take is tried once more, and dropped.

    Prefect tries eleven times and pauses between them, each event anew: where the server is gone, the exit takes minutes.
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
    """One flow run, and how far its body came: Prefect may fail before it, or when all is done."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.has_begun = False
        self.summary: Summary | None = None

    def start(self) -> None:
        """Run the flow; raises where Prefect fails, or where nothing was published."""
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
