"""Columns that several answers have, each with how people see it: the most important on a narrow screen first."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuledger.extract.source import seller
from gpuledger.warehouse.outputs.answer import Column


def _record(row: Mapping[str, Any]) -> str:
    """How often this hint was right in the last year, and how often that advice would have been: `7/12 (55%)`."""
    if not row["hint_given"]:
        return ""
    return f"{row['hint_was_right']}/{row['hint_given']} ({row['hint_right_on_any']:.0%})"


#: What people see of a row in place of the value.
_SEEN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "on_pareto_frontier": lambda row: "●" if row["on_pareto_frontier"] else "",
    "source": lambda row: seller(row["source"], row.get("url")),
    "shop": lambda row: seller(row["shop"], row.get("url")),
    "hint_was_right": _record,
}
_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: By name, each with its place as its weight.
KNOWN = {
    name: Column(name, **fields, seen=_SEEN.get(name), weight=weight)
    for weight, (name, fields) in enumerate(_DECLARED.items(), 1)
}


def columns(*names: str | Column, **headings: str) -> tuple[Column, ...]:
    """The columns of an answer in the order in which people see them: known ones by name, and those of its own.

    `headings` has the heading of each known column that is called otherwise in this answer.
    """
    declared = (KNOWN[name] if isinstance(name, str) else name for name in names)
    return tuple(replace(column, heading=headings.get(column.name, column.heading)) for column in declared)
