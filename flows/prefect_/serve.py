"""Run the nights on schedule: Prefect's own `serve` with the deployments of this folder, and the watch over its folders.

Prefect's server plans the runs; this process carries them out, each in a process of its own, one at a time.

Shown by tests/ops/test_serve.py: killed in a run, started again, events at once, and stopped.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.prefect_ import api
from gpuledger.flows.prefect_ import engine as prefect_engine
from gpuledger.flows.prefect_.inbox import LOOK_EVERY_S, MODELS_CHANGED, QUOTES_CHANGED, Watcher
from gpuledger.flows.prefect_.schedule import Schedule, is_done
from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.telling import logs
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from uuid import UUID

    from prefect import Flow
    from prefect.deployments.runner import RunnerDeployment
    from prefect.events import DeploymentEventTrigger

_log = logging.getLogger("gpuledger.serve")

_START = (
    "start `prefect server start`, and set PREFECT_API_URL and PREFECT_API_AUTH_STRING (docs/operations.md). A night alone "
    "needs no server: `gpuledger refresh`"
)


class NoServer(Exception):
    """Prefect's settings name no API, or it does not answer. The message says what to start."""


def serve(chosen: Settings, data: DataDir, *, sample: bool = False) -> None:
    """Serve the data directory on the schedule of the settings, until SIGTERM or SIGINT. With `sample` read the sample site.

    Raises schedule.BadSchedule, and NoServer if no Prefect API can be used.
    """
    schedule = Schedule(chosen.cron, chosen.time_zone)
    prefect_engine.prepare(data, log_level="ERROR")
    # Prefect starts each run in the current folder and reads settings there before any code of ours runs.
    settings.hand_on()
    os.chdir("/")
    api.ignore_the_current_folder()
    api_url = api.named()
    if not api_url:
        raise NoServer(f"Prefect's settings name no API: {_START}")
    if not api.answers(api_url):
        raise NoServer(f"no Prefect API answers at {api_url}: {_START}")
    import prefect
    from prefect.exceptions import PrefectHTTPStatusError

    logs.set_up(chosen)  # again, as Prefect has set up its own logging meanwhile
    nightly, *others = _deployments(chosen, sample=sample)
    try:
        _catch_up(schedule, data, asyncio.run(nightly.aapply()), sample=sample)
    except PrefectHTTPStatusError as error:
        refused = f"the Prefect API at {api_url} refused the deployment with status {error.response.status_code}"
        raise NoServer(f"{refused}: see PREFECT_API_AUTH_STRING") from None
    threading.Thread(target=_watch, args=(Watcher(data),), name="watch", daemon=True).start()
    due = schedule.next(utc_now())
    logs.event(
        _log, logging.INFO, "serving", data_dir=str(data.root), cron=chosen.cron, time_zone=chosen.time_zone,
        next_run=due.isoformat() if due else None, api=api_url,
    )  # fmt: skip
    prefect.serve(nightly, *others, limit=1, pause_on_shutdown=False, print_starting_message=False, name="gpuledger")


def _watch(watcher: Watcher) -> None:
    while True:
        time.sleep(LOOK_EVERY_S)
        try:
            watcher.look()
        except OSError as error:
            _log.error("the folders cannot be watched: %s", error)


def _deployments(chosen: Settings, *, sample: bool) -> list[RunnerDeployment]:
    """The deployments of this folder, the nightly one first."""
    from prefect.deployments.runner import RunnerDeployment
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    from gpuledger.flows.prefect_ import deployments
    from gpuledger.flows.prefect_.run import PRICES_CHANGED

    parameters = {"sample": sample}

    def deployment(flow: Flow[Any, Any], name: str, description: str, **when: Any) -> RunnerDeployment:
        return RunnerDeployment.from_flow(
            flow, name, description=description, entrypoint_type=EntrypointType.MODULE_PATH, **when
        )

    return [
        deployment(
            deployments.refresh, "nightly", "Read every source, rebuild what changed, publish.",
            schedules=[Cron(chosen.cron, timezone=chosen.time_zone)], parameters=parameters,
        ),
        deployment(
            deployments.refresh, "quotes", "Read the vendor quotes in the inbox as soon as one is dropped there.",
            triggers=[_trigger(QUOTES_CHANGED)], parameters={**parameters, "only": ["quotes"]},
        ),
        deployment(
            deployments.rebuild, "on-change",
            "Rebuild what edited models, settings or changed prices reach; nothing where all is up to date.",
            triggers=[_trigger(PRICES_CHANGED), _trigger(MODELS_CHANGED)],
        ),
    ]  # fmt: skip


def _trigger(event: str) -> DeploymentEventTrigger:
    from prefect.events import DeploymentEventTrigger

    return DeploymentEventTrigger(
        name=f"on {event}", expect={event}, match={"prefect.resource.id": "gpuledger.warehouse"}
    )


def _catch_up(schedule: Schedule, data: DataDir, nightly: UUID, *, sample: bool) -> None:
    """Request the night that was missed while nobody served. Does nothing if no night was ever done here."""
    from prefect.client.orchestration import get_client

    done, tick = run_log.ticks_done(data), schedule.last(utc_now())
    if tick is None or not done or is_done(tick, done):
        return
    with get_client(sync_client=True) as client:
        client.create_flow_run_from_deployment(
            nightly, name=f"late {tick:%Y-%m-%d %H:%M}", parameters={"sample": sample, "tick": tick.isoformat()},
            idempotency_key=f"late {tick.isoformat()} {utc_now().isoformat()}",
        )  # fmt: skip
    _log.warning("the run of %s was missed; it is made up for now", tick.isoformat())
