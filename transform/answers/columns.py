"""Columns that several answers have, each with how people see it: the most important on a narrow screen first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpuledger.extract.source import seller
from gpuledger.warehouse.outputs.answer import Column

_COLUMNS = (
    Column("value_rank", "#"),
    Column("rank", "rank"),
    Column("workload", "workload", "title", least=36),
    Column("workload_id", "workload id", least=40),
    Column("gpu", "gpu", "card"),
    Column("what", "what", "card"),
    Column("baseline_gpu", "baseline gpu", "card"),
    Column("score", "score", unit_in="unit"),
    Column("unit", "unit"),
    Column("new_price", "after"),
    Column("old_price", "before"),
    Column("price_usd", "USD"),
    Column("score_per_usd", "score per 1000 USD", "per_thousand"),
    Column("on_pareto_frontier", "frontier", seen=lambda row: "●" if row["on_pareto_frontier"] else ""),
    Column("price_mark", "mark", "reasons"),
    Column("mark", "mark", "prose"),
    Column("change", "change", "words"),
    Column("currency", "currency"),
    Column("relative_to_baseline", "× baseline", "ratio"),
    Column("published_on", "published on"),
    Column("provider", "provider"),
    Column("instance", "instance", "name"),
    Column("instance_hour_usd", "USD an hour"),
    Column("pricing_model", "pricing", "words"),
    Column("break_even_hours", "owning is cheaper after hours"),
    Column("source", "shop", seen=lambda row: seller(row["source"], row.get("url"))),
    Column("shop", "shop", seen=lambda row: seller(row["shop"], row.get("url"))),
    Column("availability", "availability", "words"),
    Column("price_since", "price since", "day"),
    Column("premium_over_msrp", "over MSRP", "change"),
    Column("excluded", "left out", "reasons", least=16),
    Column("left_out_because", "left out because", "reasons", least=16),
    Column("last_seen_at", "last confirmed", "day"),
    Column("changed_at", "when"),
    Column("change_ratio", "by", "change"),
    Column("hint", "hint", "state"),
    Column("hint_was_right", "hint right (any week)", seen=lambda row: _record(row)),
    Column("used_price_usd", "used"),
    Column("offered_in", "market"),
    Column("market", "market"),
    Column("offers", "offers"),
    Column("msrp_usd", "MSRP"),
    Column("median_usd", "median"),
    Column("channel", "channel", "words"),
    Column("price_ratio", "× price", "ratio"),
    Column("score_ratio", "× score", "ratio"),
    Column("title", "title", "name"),
    Column("price", "price"),
    *(
        Column(name, name.replace("_", " "), "words")
        for name in ("claim", "condition", "kinds", "old_availability", "new_availability", "tax", "product_kind")
    ),
    Column("url", "url", "name"),
    Column("assumption", "assumption", least=40),
    Column("status", "status", "state", least=24),
    Column("grade", "grade", "state"),
    Column("verdict", "verdict", "state"),
    Column("fits", "fits", "state"),
    Column("quantity", "quantity", "prose"),
    Column("change_30d", "30 days", "change"),
    Column("percentile_1y", "of the year", "share"),
)


def _record(row: Mapping[str, Any]) -> str:
    """How often this hint was right in the last year, and how often that advice would have been: `7/12 (55%)`."""
    if not row["hint_given"]:
        return ""
    return f"{row['hint_was_right']}/{row['hint_given']} ({row['hint_right_on_any']:.0%})"


#: By name, each with its place as its weight.
KNOWN = {column.name: replace(column, weight=weight) for weight, column in enumerate(_COLUMNS, 1)}


def columns(*names: str | Column, **headings: str) -> tuple[Column, ...]:
    """The columns of an answer in the order in which people see them: known ones by name, and those of its own.

    `headings` has the heading of each known column that is called otherwise in this answer.
    """
    declared = (KNOWN[name] if isinstance(name, str) else name for name in names)
    return tuple(replace(column, heading=headings.get(column.name, column.heading)) for column in declared)
