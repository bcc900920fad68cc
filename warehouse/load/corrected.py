"""Corrections of what a source says wrongly and nobody mends there, put in before its rows are checked and loaded.

A correction is of one field of one row, and holds for as long as the source says what it was made against. Where the source
says something else it has changed its mind: its word counts, and the correction is named.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import duckdb

from gpuledger.extract.items import Issue, Item, from_json, to_json
from gpuledger.warehouse.load.batch import Row
from gpuledger.warehouse.load.others import key_of
from gpuledger.warehouse.load.stage import append

#: What became of a correction; see `core.correction`.
Status = Literal["applied", "agreed", "outdated", "refused", "not_seen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A person's word on one field of one row. `old` and `new` are as `gpuledger parse` prints them, None for an empty one.

    It counts from `decided` on: from a time, or from the beginning of a day (UTC).
    """

    source: str
    key: str
    field: str
    old: str | None
    new: str | None
    reason: str
    decided: date | datetime

    def is_known(self, at: datetime) -> bool:
        """Whether it was decided by then."""
        if isinstance(self.decided, datetime):
            return self.decided <= at
        return self.decided <= at.date()

    @property
    def name(self) -> str:
        """What it is of, for messages."""
        return f"{self.source} {self.key} {self.field}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of a correction tonight: what the source says, on which page, and why it was not applied, if so."""

    correction: Correction
    status: Status
    value: str | None = None
    sha256: str | None = None
    reason: str | None = None


def key_text(source: str, item: Item) -> str:
    """What a row is called in a correction: the shop's own key of an offer, else the parts of its key with a bar between."""
    return "|".join("" if part is None else str(part) for part in key_of(source, item)[1:])


def text_of(item: Item, field: str) -> str | None:
    """A field of an item as corrections write it; None where it is empty. Raises KeyError."""
    return as_text(to_json(item)[field])


def as_text(value: object) -> str | None:
    """A value of JSON or TOML as corrections compare it."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def changed(source: str, item: Item, values: Mapping[str, str | None]) -> Item:
    """The item with other values in some fields. Raises ValueError, with the reason, where that makes no item."""
    row: dict[str, Any] = to_json(item)
    for field, text in values.items():
        if field not in row or field == "kind":
            fields = ", ".join(name for name in row if name != "kind")
            raise ValueError(f"a row of the kind {item.KIND} has no field {field!r}; it has {fields}")
        row[field] = _typed(text, type(item), field)
    try:
        made = from_json(row)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ValueError(f"it makes no row of the kind {item.KIND}: {error}") from None
    assert type(made) is type(item)
    if key_of(source, made) != key_of(source, item):
        raise ValueError(f"the row is known by its {', '.join(values)}: that cannot be corrected")
    return made


def _typed(text: str | None, kind: type[Item], field: str) -> object:
    """The text as JSON has a value of that field. Raises ValueError."""
    kinds = _kinds(kind.KIND)[field]
    if text is None:
        return None
    choices = [word for one in kinds for word in get_args(one)]
    if choices and text not in choices:
        raise ValueError(f"{field} is one of {', '.join(choices)}, not {text!r}")
    if bool in kinds:
        if text not in ("true", "false"):
            raise ValueError(f"{field} is true or false, not {text!r}")
        return text == "true"
    if int in kinds:
        if not re.fullmatch(r"\d{1,9}", text):
            raise ValueError(f"{field} is a whole number, not {text!r}")
        return int(text)
    return text


@cache
def _kinds(kind: str) -> dict[str, tuple[Any, ...]]:
    """What may stand in each field: `int | None` gives both, a Literal itself."""
    hints = get_type_hints(next(one for one in get_args(Item) if kind == one.KIND))
    return {name: get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,) for name, hint in hints.items()}


def apply(source: str, rows: Sequence[Row], corrections: Sequence[Correction]) -> tuple[list[Row], list[Seen]]:
    """The rows as corrected, and what became of each correction of the source."""
    if not corrections:
        return list(rows), []
    by_key: dict[str, list[Correction]] = {}
    for one in corrections:
        by_key.setdefault(one.key, []).append(one)
    seen: dict[str, Seen] = {one.name: Seen(one, "not_seen") for one in corrections}
    done: list[Row] = []
    for row in rows:
        mine = by_key.get(key_text(source, row.item), ())
        verdicts = [_verdict(one, row) for one in mine]
        values = {one.correction.field: one.correction.new for one in verdicts if one.status == "applied"}
        if values:
            try:
                row = dataclasses.replace(row, item=changed(source, row.item, values))
            except ValueError as error:
                verdicts = [
                    dataclasses.replace(one, status="refused", reason=str(error)) if one.status == "applied" else one
                    for one in verdicts
                ]
        seen |= {one.correction.name: one for one in verdicts}
        done.append(row)
    return done, [*seen.values()]


def _verdict(one: Correction, row: Row) -> Seen:
    try:
        value = text_of(row.item, one.field)
    except KeyError:
        return Seen(one, "refused", None, row.snapshot_sha256, f"a {row.item.KIND} has no field {one.field!r}")
    is_number = isinstance(getattr(row.item, one.field), Decimal)
    status: Status = (
        "applied" if _same(value, one.old, is_number) else "agreed" if _same(value, one.new, is_number) else "outdated"
    )
    return Seen(one, status, value, row.snapshot_sha256)


def _same(value: str | None, other: str | None, is_number: bool) -> bool:
    if value is None or other is None or not is_number:
        return value == other
    try:
        return Decimal(value) == Decimal(other)
    except ArithmeticError:
        return False


def issues(seen: Sequence[Seen], way_out: str) -> list[tuple[Issue, str | None]]:
    """An issue for each correction that somebody should look at; `way_out` says where they stand."""
    return [(_issue(one, way_out), one.sha256) for one in seen if one.status not in ("applied", "not_seen")]


def _issue(one: Seen, way_out: str) -> Issue:
    wrong = one.correction
    was, now = ("nothing" if value is None else repr(value) for value in (wrong.old, one.value))
    if one.status == "agreed":
        message = f"the source says {now} itself now, as the correction of {wrong.decided} does: {way_out}"
        return Issue(code="correction_agreed", severity="info", message=message, where=wrong.name, text=one.value)
    if one.status == "outdated":
        message = (
            f"the source has changed its mind: it says {now}, and the correction of {wrong.decided} was made against {was}; "
            f"the source's word counts: {way_out}"
        )
        return Issue(code="correction_outdated", message=message, where=wrong.name, text=one.value)
    message = f"the correction of {wrong.decided} cannot be put in: {one.reason}: {way_out}"
    return Issue(code="bad_correction", severity="error", message=message, where=wrong.name, text=wrong.new)


def keep(con: duckdb.DuckDBPyConnection, source: str, seen_at: datetime, seen: Sequence[Seen]) -> None:
    """Write the source's rows of core.correction."""
    con.execute("DELETE FROM core.correction WHERE source = ?", [source])
    append(con, "core.correction", [
        (source, c.key, c.field, c.old, c.new, c.reason, str(c.decided), one.status, one.value, seen_at, one.sha256)
        for one in seen for c in [one.correction]
    ])  # fmt: skip
