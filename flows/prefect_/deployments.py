"""The flows that a schedule, an event or a person starts on a Prefect server, with a process for each run.

`gpuledger serve` and `deploy/prefect.yaml` deploy the same flows, by the name of this module. No flow takes a path: the
environment of the process that runs it names the data directory, and never the caller who requests a run.

Shown by tests/ops/test_serve.py (a run is given no other folder) and tests/ops/test_server_lost.py.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, FlowRunPolicy, State, StateType
from prefect.client.schemas.schedules import CronSchedule
from prefect.concurrency.sync import concurrency
from prefect.context import FlowRunContext
from prefect.states import Cancelled, Completed

from gpuledger.extract import shops
from gpuledger.extract.archive import files
from gpuledger.extract.fetch.site import site_of
from gpuledger.flows.history import rebuild as rebuilding
from gpuledger.flows.night import exporting, gather, run_log, sharing
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.start import Request, context_for, rebuild_context_for, refuse_a_mixture
from gpuledger.flows.night.summary import NothingPublished, Summary, can_help
from gpuledger.flows.prefect_ import run as prefect_run
from gpuledger.flows.prefect_.schedule import Schedule, is_done
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.telling import logs
from gpuledger.flows.telling.alerts import run_and_report
from gpuledger.warehouse.errors import Locked

#: A host is free again so long after the worker that held it was killed [s]; 60 is the least that Prefect takes.
_HOST_LEASE_S = 60.0
#: How long a rebuild waits for a refresh that is writing [s].
_LOCK_WAIT_S = 1800.0

T = TypeVar("T")


@flow(name="refresh", persist_result=False)
def refresh(sample: bool = False, only: list[str] | None = None, tick: datetime | None = None) -> State[object]:
    """Read the sources, rebuild what changed, publish.

    If the scheduled time of this run (or the missed `tick` that it makes up for) was done already, it completes without
    doing anything. A run that publishes nothing fails, and is tried again if its reason may pass.
    """
    settings = _begin()
    set_retries(flow_run(), settings.run_retries, settings.run_retry_delay_s * random.uniform(1.0, 1.5))
    data = settings.data()
    files.make_folder(data.state)
    tick = tick or _tick_of(flow_run())
    if tick is not None and is_done(tick, run_log.ticks_done(data)):
        return Completed(message=f"the run of {tick:%Y-%m-%d %H:%M} UTC is done already")
    _cover_waiting(flow_run())
    request = Request(sample=sample, only=only or ())
    refuse_a_mixture(data, request)
    context = context_for(settings, data, "prefect", request)
    context = replace(context, tick=tick)

    def locked() -> Summary:
        with writing(data):
            return prefect_run.refresh(context)

    summary = run_and_report(context, locked)
    if summary.published is None:
        if not can_help(summary):
            # A run waits for its next try in its process, so an unreadable quote would keep its mended version waiting for
            # most of an hour.
            set_retries(flow_run(), 0)
        raise NothingPublished(summary.why or "nothing was published")
    failed = ", ".join(source.source for source in summary.failed_sources)
    outcome = f"{len(summary.changes)} prices changed" + (f"; failed: {failed}" if failed else "")
    return Completed(message=f"{summary.version}: {outcome}")


@flow(name="read", persist_result=False)
def read_source(
    source: str, run_id: str, as_of: datetime, sample_night: int | None = None, shop: str = ""
) -> State[object]:
    """Read one source, or one `shop` of it, for the refresh `run_id`, which waits for the result and writes it.

    Both see the same data directory, or share a store. Raises ValueError if `run_id` is no run's id, and SettingsError for a
    shop that the settings of this machine lack.
    """
    settings = _begin()
    context = Context(
        settings=settings, data=settings.data(), run_id=run_id, as_of=as_of, started_at=utc_now(),
        engine="prefect", sample_night=sample_night, only=(source,),
    )  # fmt: skip
    sharing.begin_reading(context.data, source)
    with gather.reader(context) as reader:
        parts = [part for reading in gather.readings(context) for part in shops.apart(reading) if part.shop == shop]
        if not parts:
            raise settings_module.SettingsError(
                f"{source}: the settings of this machine name no address of {shop or 'it'}; give all machines the same"
            )
        with _alone_at(site_of(parts[0].starts, parts[0].source.hosts).hosts):
            collected = reader.read_source(parts[0])
    sharing.hand_over(context.data, run_id, collected)
    if collected.failure is not None:
        return Completed(name="SourceFailed", message=str(collected.failure))
    return Completed(message=f"{len(collected.rows)} rows on {collected.pages} pages")


@flow(name="rebuild", persist_result=False)
def rebuild() -> State[object]:
    """Rebuild the tables that depend on edited models, data, settings or prices. If none is out of date, publish nothing."""
    settings = _begin()
    data = settings.data()
    _cover_waiting(flow_run())
    # A new context at each try, as a rebuild takes the time of the newest run: that may be the refresh that it waited for.
    summary = when_free(lambda: rebuilding.rebuild(rebuild_context_for(settings, data, "prefect")))
    rebuilt = sum(build.action == "rebuilt" for build in summary.builds)
    if summary.published is None:
        return Completed(message="no model is out of date: nothing was published")
    exporting.after_run(data, summary.answered)
    logs.summary(summary)
    return Completed(message=f"{summary.version}: {rebuilt} models rebuilt")


def _begin() -> settings_module.Settings:
    """Begin the process of a run. Returns the settings of this machine."""
    settings = settings_module.load({})
    logs.set_up(settings)
    return settings


@contextmanager
def _alone_at(hosts: Collection[str]) -> Iterator[None]:
    """Hold the hosts while the block runs: of all workers of a server one at a time asks a host, so it is asked politely."""
    names = [f"host {host}" for host in sorted(hosts)]
    with get_client(sync_client=True) as client:
        for name in names:
            client.upsert_global_concurrency_limit_by_name(name, limit=1)
    with concurrency(names, lease_duration=_HOST_LEASE_S):
        yield


def when_free(work: Callable[[], T]) -> T:
    """Do `work` as soon as no other run is writing. Raises Locked after _LOCK_WAIT_S seconds."""
    ends = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            return work()
        except Locked:
            if time.monotonic() > ends:
                raise
            # A random pause, so that ten waiting runs do not all try at the same moment.
            time.sleep(random.uniform(0.5, 1.5))


def set_retries(run: FlowRun | None, retries: int, delay_s: float = 0) -> None:
    """Have Prefect try the run again up to `retries` times if it fails, each time after `delay_s` seconds.

    The run itself sets this, as the declaration of the flow would have to read the settings at import.
    """
    if run is not None:
        with get_client(sync_client=True) as client:
            policy = FlowRunPolicy(retries=retries, retry_delay=round(delay_s))
            client.update_flow_run(run.id, empirical_policy=policy)


def flow_run() -> FlowRun | None:
    """The flow run that this code is part of; None outside of one."""
    context = FlowRunContext.get()
    return context.flow_run if context else None


def _tick_of(run: FlowRun | None) -> datetime | None:
    """The tick of its deployment's schedule that a run stands for; None unless a single cron schedule started it."""
    if run is None or not run.auto_scheduled or run.deployment_id is None:
        return None
    with get_client(sync_client=True) as client:
        schedules = [s.schedule for s in client.read_deployment(run.deployment_id).schedules if s.active]
    if len(schedules) != 1 or not isinstance(schedules[0], CronSchedule):
        return None
    schedule = Schedule(schedules[0].cron, schedules[0].timezone or "UTC")
    return schedule.tick_of(utc_now())


def _cover_waiting(run: FlowRun | None) -> None:
    """Cancel the waiting runs that would do the same as this one. They were requested before it read anything, so it covers
    them.

    Ten events in a second make ten runs on a Prefect server. Of these only one does the work.
    """
    if run is None or run.deployment_id is None:
        return
    with get_client(sync_client=True) as client:
        waiting = client.read_flow_runs(
            deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[run.deployment_id])),
            flow_run_filter=FlowRunFilter(
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED]))
            ),
        )
        for queued in waiting:
            is_due = queued.expected_start_time is not None and queued.expected_start_time <= utc_now()
            if queued.id != run.id and is_due and not queued.auto_scheduled and queued.parameters == run.parameters:
                client.set_flow_run_state(queued.id, Cancelled(message=f"covered by {run.name}"))
