"""Completion in the shell: the workloads, models, cards and tables of the published warehouse.

A shell asks for completions while a person types, so errors are never printed. Without a warehouse nothing is completed.
"""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from gpuledger.flows.asking.options import data_of

#: A function as click calls it: with the context of the command, the parameter and the text typed so far.
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _names(kind: str) -> Completer:
    def completer(ctx: click.Context, _parameter: click.Parameter, so_far: str) -> list[CompletionItem]:
        from gpuledger.flows.settings.settings import SettingsError
        from gpuledger.transform.answers import names
        from gpuledger.warehouse.errors import BadQuery, WarehouseError

        try:
            matches = names.like(data_of(ctx.params.get("data_dir")), kind, so_far.strip("'\""))
        except (SettingsError, BadQuery, WarehouseError, OSError):
            return []
        return [CompletionItem(name, help=title) for name, title in matches]

    return completer


workloads, models, cards, tables = map(_names, ("workload", "model", "card", "table"))
