"""The corrections of a data directory, decisions/corrections.toml: what a source states wrongly, and what is right.

[[correction]]
source = "newegg"
key = "N82E16814990001"              # the listing_key in core.listing; `gpuledger sources correct` finds it
field = "brand"
old = "Norvick"                      # what the source says; leave it out if the field is empty there
new = "Norvik"                       # leave it out to empty the field
reason = "the maker's own page spells it so"
date = 2026-11-20                    # it counts from this day (UTC) on, or from a time with its offset
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gpuledger import records
from gpuledger.extract.collect import Collected
from gpuledger.flows.decisions.terms import known_source
from gpuledger.warehouse.load import corrected
from gpuledger.warehouse.load.batch import Row
from gpuledger.warehouse.load.corrected import Correction, Seen, as_text
from gpuledger.warehouse.paths import DataDir

#: What to do about a correction that no longer fits.
REMEDY = "`gpuledger sources correct` renews it, with --remove takes it out"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A correction as the file has it."""

    source: str
    key: str
    field: str
    reason: str
    date: Any  # a day, or a time with its offset
    old: Any = None
    new: Any = None


def _read(table: Mapping[str, Any]) -> Correction:
    entry = records.typed(_Entry)(table)
    old, new = (_text(name, getattr(entry, name)) for name in ("old", "new"))
    if old == new:
        raise ValueError("old and new are the same; write what the source says in old, and what is right in new")
    if type(entry.date) is not date and not (isinstance(entry.date, datetime) and entry.date.tzinfo):
        raise ValueError("date must be a day such as 2026-11-20, or a time with its offset, without quotes")
    if not (entry.key and entry.field and entry.reason):
        raise ValueError("key, field and reason must not be empty")
    return Correction(
        source=known_source(entry.source), key=entry.key, field=entry.field, old=old, new=new, reason=entry.reason,
        decided=entry.date,
    )  # fmt: skip


def _text(name: str, value: object) -> str | None:
    if isinstance(value, float):
        # TOML reads 1299.90 as a binary fraction, which does not keep its last zero.
        raise ValueError(f'{name} = {value} must stand in quotes: "{Decimal(repr(value)):f}"')
    if isinstance(value, list | dict):
        raise ValueError(f"{name} is one value, in quotes")
    return as_text(value)


def _write(correction: Correction) -> Mapping[str, Any]:
    return {
        "source": correction.source, "key": correction.key, "field": correction.field, "old": correction.old,
        "new": correction.new, "reason": correction.reason, "date": correction.decided,
    }  # fmt: skip


CORRECTIONS = records.Kind("correction", "corrections.toml", key=lambda one: one.place, read=_read, write=_write)


def put_in(data: DataDir, collected: Collected, at: datetime) -> tuple[Collected, list[Seen]]:
    """A batch with the corrections in its rows, an issue for each that a person should look at, and how each went.

    Only corrections that were decided by `at` count, as a replay applies those that the run knew. Raises BadRecord: going on
    without a correction would bring back a value that a person knows to be wrong.
    """
    mine = [one for one in CORRECTIONS.all(data.root) if one.source == collected.source and one.is_known(at)]
    if not mine or collected.failure is not None:
        return collected, []
    rows, seen = corrected.apply(collected.source, [Row(item, sha256) for item, sha256 in collected.rows], mine)
    issues = [*collected.issues, *corrected.issues(seen, REMEDY)]
    return replace(collected, rows=[(row.item, row.snapshot_sha256) for row in rows], issues=issues), seen
