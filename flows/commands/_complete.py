"""What the shell completes: workloads, models, cards and tables of the published warehouse.

A shell asks at each press of a key, so nothing is ever said: where there is no warehouse there is nothing to complete.
"""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from gpuledger.flows.commands._options import data_of

#: As click calls it: with the command's context, the parameter and what stands there so far.
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _names(kind: str) -> Completer:
    def completer(ctx: click.Context, _parameter: click.Parameter, so_far: str) -> list[CompletionItem]:
        from gpuledger.flows.setup.settings import SettingsError
        from gpuledger.transform.answers import names
        from gpuledger.warehouse.errors import BadQuery, WarehouseError

        try:
            found = names.like(data_of(ctx.params.get("data_dir")), kind, so_far.strip("'\""))
        except (SettingsError, BadQuery, WarehouseError, OSError):
            return []
        return [CompletionItem(name, help=called) for name, called in found]

    return completer


workloads, models, cards, tables = map(_names, ("workload", "model", "card", "table"))
