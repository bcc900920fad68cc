"""The deployments that `serve` keeps on the Prefect server, and the runner that carries them out one at a time.

Shown by tests/ops/test_serve.py: a run that was killed is known to be dead.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State, StateType
from prefect.events import DeploymentEventTrigger
from prefect.runner import Runner
from prefect.schedules import Cron
from prefect.states import Crashed
from prefect.types.entrypoint import EntrypointType

from gpuledger.flows.night import run_log
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.prefect_ import deployments, served
from gpuledger.flows.prefect_.inbox import MODELS_CHANGED, QUOTES_CHANGED
from gpuledger.flows.prefect_.run import PRICES_CHANGED
from gpuledger.flows.prefect_.schedule import Schedule, is_done

if TYPE_CHECKING:
    from uuid import UUID

    from prefect import Flow

    from gpuledger.flows.settings.settings import Settings
    from gpuledger.warehouse.paths import DataDir

_log = logging.getLogger("gpuledger.serve")


async def runner(settings: Settings, data: DataDir, *, sample: bool, is_alone: bool) -> Runner:
    """A runner that has registered the deployments and requested the missed night, if any; start it with `start()`.

    `is_alone` means that nobody else uses the server, so runs that the server lists as running are dead.
    """
    if is_alone:
        await _bury_the_dead()
    runs = Runner(name="gpuledger", limit=1, pause_on_shutdown=False)
    parameters = {"sample": sample}
    # The runner's limit holds for all deployments together. A deployment's own limit counts the runs of other runners too.
    limit = None if is_alone else 1
    # A run takes its flow from served.py, whatever somebody writes into the deployments on the server later.
    os.environ.update(served.ENVIRONMENT)

    async def add(flow: Flow[Any, Any], name: str, description: str, **when: Any) -> UUID:
        deployment = await flow.ato_deployment(
            name, description=description, concurrency_limit=limit, entrypoint_type=EntrypointType.MODULE_PATH, **when
        )
        return await runs.aadd_deployment(deployment)

    nightly = await add(
        deployments.refresh, "nightly", "Read every source, rebuild what changed, publish.",
        schedules=[Cron(settings.cron, timezone=settings.time_zone)], parameters=parameters,
    )  # fmt: skip
    await add(
        deployments.refresh, "quotes", "Read the vendor quotes in the inbox as soon as one is dropped there.",
        triggers=[_trigger(QUOTES_CHANGED)], parameters={**parameters, "only": ["quotes"]},
    )  # fmt: skip
    await add(
        deployments.rebuild, "on-change",
        "Rebuild what edited models, settings or changed prices reach; nothing where all is up to date.",
        triggers=[_trigger(PRICES_CHANGED), _trigger(MODELS_CHANGED)],
    )  # fmt: skip
    await _catch_up(Schedule(settings.cron, settings.time_zone), data, nightly, sample=sample)
    return runs


def _trigger(event: str) -> DeploymentEventTrigger:
    return DeploymentEventTrigger(
        name=f"on {event}", expect={event}, match={"prefect.resource.id": "gpuledger.warehouse"}
    )


async def _bury_the_dead() -> None:
    """Mark the runs whose process was killed as crashed, as they can no longer report that themselves."""
    async with get_client() as client:
        running = deployments.in_state(StateType.RUNNING, StateType.PENDING, StateType.CANCELLING)
        for run in await client.read_flow_runs(flow_run_filter=running):
            state: State[object] = Crashed(message="the process that served it was killed")
            await client.set_flow_run_state(run.id, state, force=True)
            _log.warning("%s was interrupted", run.name)


async def _catch_up(schedule: Schedule, data: DataDir, deployment: UUID, *, sample: bool) -> None:
    """Request the night that was missed while nobody served. Does nothing if no night was ever done here."""
    done, tick = run_log.ticks_done(data), schedule.last(utc_now())
    if tick is None or not done or is_done(tick, done):
        return
    async with get_client() as client:
        await client.create_flow_run_from_deployment(
            deployment,
            name=f"late {tick:%Y-%m-%d %H:%M}",
            parameters={"sample": sample, "tick": tick.isoformat()},
            idempotency_key=f"late {tick.isoformat()} {utc_now().isoformat()}",
        )
    _log.warning("the run of %s was missed; it is made up for now", tick.isoformat())
