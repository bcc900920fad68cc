"""The code that a run of `gpuledger serve` carries out: one of our own flows, and nothing that a server names.

A deployment on a Prefect server names code, and steps to take before it, so a person who can write there could name other
code. The environment of the runs of `serve` therefore names `flow` of this module, which Prefect then uses instead.

Shown by tests/ops/test_doors.py, with a deployment that names other code.
"""

from __future__ import annotations

import os
from typing import Any
from uuid import UUID

from prefect import Flow
from prefect.client.orchestration import get_client

from gpuledger.flows.prefect_ import deployments
from gpuledger.flows.prefect_.processes import end_with_owner

#: The environment of a run: it makes Prefect take `flow` of this module.
ENVIRONMENT = {"PREFECT__FLOW_ENTRYPOINT": f"{__name__}.flow"}

_FLOWS: dict[str, Flow[..., Any]] = {flow.name: flow for flow in (deployments.refresh, deployments.rebuild)}


def __getattr__(name: str) -> Flow[..., Any]:
    """`flow`: the flow of the run for which this process was started. It is looked up on access, as that asks the server."""
    if name != "flow":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    end_with_owner()
    with get_client(sync_client=True) as client:
        run = client.read_flow_run(UUID(os.environ["PREFECT__FLOW_RUN_ID"]))
        flow_name = client.read_flow(run.flow_id).name
    if flow_name not in _FLOWS:
        raise LookupError(f"{flow_name!r} is none of the flows that are served: {', '.join(_FLOWS)}")
    return _FLOWS[flow_name]
