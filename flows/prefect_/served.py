"""What a run that `gpuledger serve` starts carries out: one of our own flows, and nothing that a server says.

A deployment on a Prefect server names code, and steps to take before it; who may write there could name his own. So the
runs of `serve` are told by their environment to take `flow` from here, which Prefect then takes before all that.
"""

from __future__ import annotations

import os
from typing import Any
from uuid import UUID

from prefect import Flow
from prefect.client.orchestration import get_client

from gpuledger.flows.prefect_ import deployments
from gpuledger.flows.prefect_.processes import end_with_owner

#: How a run is told: `flow` of this module.
ENVIRONMENT = {"PREFECT__FLOW_ENTRYPOINT": f"{__name__}.flow"}

_FLOWS: dict[str, Flow[..., Any]] = {flow.name: flow for flow in (deployments.refresh, deployments.rebuild)}


def __getattr__(name: str) -> Flow[..., Any]:
    """`flow`: the flow of the run that this process was started for. Found when it is asked for, as it asks the server."""
    if name != "flow":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    end_with_owner()
    with get_client(sync_client=True) as client:
        run = client.read_flow_run(UUID(os.environ["PREFECT__FLOW_RUN_ID"]))
        wanted = client.read_flow(run.flow_id).name
    if wanted not in _FLOWS:
        raise LookupError(f"{wanted!r} is none of the flows that are served: {', '.join(_FLOWS)}")
    return _FLOWS[wanted]
