"""A refresh inside a Prefect flow: a task for each source, artifacts for the UI, an event if prices changed.

This module imports Prefect at the top, so import it only when a flow is about to run. No fault of the server in here stops
a run: Prefect's state is a view, and the record is the warehouse and the log of runs.
"""

from __future__ import annotations

import logging
import threading

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.events import emit_event
from prefect.futures import PrefectFuture
from prefect.tasks import exponential_backoff

from gpuledger.errors import Timeout
from gpuledger.extract.collect import Collected, Reading
from gpuledger.flows.night import sharing
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.refresh import run_locked
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.prefect_ import api, artifacts

_log = logging.getLogger("gpuledger.prefect")

#: Emitted after a publish that changed at least one price, so that anything on the same server can follow.
PRICES_CHANGED = "gpuledger.prices.changed"


def refresh(context: Context) -> Summary:
    """One refresh, inside a flow and under the writer's lock. Returns and raises what `run_locked` does."""
    summary = run_locked(context, _read_all)
    if not api.answers(api.named()):
        # Prefect would try each call again for a quarter of a minute before it gives up.
        return summary
    for show in (artifacts.create, announce):
        try:
            show(context, summary)
        except Exception as error:  # noqa: BLE001
            # These only show and announce the run, which is done and published.
            _log.warning("the Prefect server did not take %s: %s", show.__name__, type(error).__name__)
    return summary


def announce(context: Context, summary: Summary) -> None:
    """Emit the event of a publish that changed prices. Does nothing if no price changed."""
    if summary.published is None or not summary.changes:
        return
    by_source: dict[str, int] = {}
    for change in summary.changes:
        by_source[change.source] = by_source.get(change.source, 0) + 1
    emit_event(
        PRICES_CHANGED,
        resource={"prefect.resource.id": "gpuledger.warehouse", "prefect.resource.name": context.data.root.name},
        payload={
            "run_id": summary.run_id, "as_of": context.as_of.isoformat(), "version": summary.version,
            "changes": len(summary.changes), "sources": by_source,
        },
    )  # fmt: skip


def _read_all(reader: Reader, readings: list[Reading]) -> list[Collected]:
    # The client retries pages. The retries of a task are for unforeseen faults, for example a full disk. Prefect gets only
    # the name as an argument, as it would hash and serialize whole batches.
    context = reader.context
    by_name = {reading.name: reading for reading in readings}
    turns = threading.BoundedSemaphore(context.settings.parallel_sources)

    @task(
        name="read",
        task_run_name="read {source}",
        retries=2,
        retry_delay_seconds=exponential_backoff(backoff_factor=2),
        retry_jitter_factor=0.5,
        cache_policy=NO_CACHE,
        persist_result=False,
    )
    def read_source(source: str) -> Collected:
        with turns:
            # With a store, a file that a person dropped lies only on the writer's machine.
            is_elsewhere = not (context.data.store and by_name[source].files)
            if context.settings.read_deployment and is_elsewhere:
                sharing.lend(context.data, source)
                return _read_elsewhere(context, by_name[source])
            return reader.read_source(by_name[source])

    try:
        futures: list[PrefectFuture[Collected]] = [read_source.submit(name) for name in by_name]
        return [future.result() for future in futures]
    finally:
        sharing.clear_handed(context.data, context.run_id)


def _read_elsewhere(context: Context, reading: Reading) -> Collected:
    """Have a worker read one source, or one shop of it: a flow run of the deployment that the settings name."""
    limit_s, source, shop = context.settings.source_timeout_s, reading.source.name, reading.shop
    run = run_deployment(
        context.settings.read_deployment,
        parameters={
            "source": source, "shop": shop, "run_id": context.run_id, "as_of": context.as_of.isoformat(),
            "sample_night": context.sample_night,
        },
        # Twice the time, as the run may have to wait for a free worker.
        timeout=2 * limit_s, poll_interval=1.0, flow_run_name=f"read {source} {shop} {context.run_id[-6:]}",
    )  # fmt: skip
    handed_over = sharing.take_over(context.data, context.run_id, source, shop)
    if handed_over is not None:
        return handed_over
    state = run.state.name if isinstance(run, FlowRun) and run.state is not None else "unknown"
    seen = f"its worker handed nothing over within {2 * limit_s:g} s (the run is {state})"
    action = f"see that a worker serves {context.settings.read_deployment} and shares the data directory, or the store"
    return Collected(source, shop=shop, failure=Timeout(shop or source, seen, action), is_complete=False)
