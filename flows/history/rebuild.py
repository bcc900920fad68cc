"""Rebuild the tables that depend on edited models, data or settings, without reading a source.

If nothing changed, nothing is published.
"""

from __future__ import annotations

from gpuledger.flows.night import building, run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.refresh import build, publish_build
from gpuledger.flows.night.sharing import writing
from gpuledger.flows.night.store import seed
from gpuledger.flows.night.summary import Summary
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import NoWarehouse


def rebuild(context: Context, *, full: bool = False, explain: bool = False) -> Summary:
    """Build on a copy of the newest warehouse, and publish it if a model was out of date. `full` builds every model.

    With `explain` the copy is built all the same and thrown away. Only so can the summary say exactly what would be
    rebuilt, why, and where the work would stop. Raises NoWarehouse if nothing was published yet.
    """
    with writing(context.data):
        if not context.data.base.exists():
            raise NoWarehouse(context.data.root)
        publish.heal(context.data)
        run_log.heal(context.data)
        with publish.workspace(context.data, context.run_id, memory_limit=context.settings.memory_limit) as (con, work):
            con.begin()
            builds = build(con, context, seed(con, context), full=full)
            if explain or not any(one.action == "rebuilt" for one in builds):
                builds = [*builds, building.answer(con, context)[0]]
            if explain or not any(one.action == "rebuilt" for one in builds):
                return Summary(context.run_id, builds=builds)
            run_log.start(context)
            summary = publish_build(con, context, work, (), builds)
        run_log.finish(context, summary.status, summary.reason)
    return summary
