"""Corrections of values that a source states wrongly and does not mend. They are applied before its rows are checked and
loaded.

A correction changes one field of one row, as long as the source states the value that the correction was made against. If
the source states another value, it has changed its mind: then the source's value counts, and an issue names the correction.
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

from gpuledger.items import Issue, Item, from_json, to_json
from gpuledger.warehouse.load.batch import Row
from gpuledger.warehouse.load.others import key_of
from gpuledger.warehouse.load.stage import append

#: How a correction went; see `core.correction`.
Status = Literal["applied", "agreed", "outdated", "refused", "not_seen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A person's correction of one field of one row. `old` and `new` are as `gpuledger parse` prints them, None for empty.

    It counts from `decided` on, which is a time or the beginning of a day (UTC).
    """

    source: str
    key: str
    field: str
    old: str | None
    new: str | None
    reason: str
    decided: date | datetime

    def is_known(self, at: datetime) -> bool:
        """Whether it was decided by `at`."""
        if isinstance(self.decided, datetime):
            return self.decided <= at
        return self.decided <= at.date()

    @property
    def place(self) -> tuple[str, str, str]:
        """The corrected field of a row: its source, its key and its name."""
        return self.source, self.key, self.field

    @property
    def name(self) -> str:
        """The corrected field, for messages."""
        return " ".join(self.place)


@dataclass(frozen=True, slots=True)
class Seen:
    """How a correction went tonight: the source's value, its page, and the reason if it was refused."""

    correction: Correction
    status: Status
    value: str | None = None
    sha256: str | None = None
    reason: str | None = None


def key_text(source: str, item: Item) -> str:
    """The name of a row in a correction: the shop's own key for an offer, else the parts of the row's key with bars."""
    return "|".join("" if part is None else str(part) for part in key_of(source, item)[1:])


def text_of(item: Item, field: str) -> str | None:
    """A field of an item as corrections write it; None if it is empty. Raises KeyError."""
    return as_text(to_json(item)[field])


def as_text(value: object) -> str | None:
    """A value of JSON or TOML as corrections compare it."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def changed(source: str, item: Item, values: Mapping[str, str | None]) -> Item:
    """The item with other values in some fields. Raises ValueError, with the reason, if the result is no valid item."""
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
    """The text as a JSON value of that field. Raises ValueError."""
    kinds = _kinds(kind.KIND)[field]
    if text is None:
        return None
    choices = [word for allowed_type in kinds for word in get_args(allowed_type)]
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
    """The types that each field may have: `int | None` gives both, a Literal itself."""
    hints = get_type_hints(next(item_type for item_type in get_args(Item) if kind == item_type.KIND))
    return {name: get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,) for name, hint in hints.items()}


def apply(source: str, rows: Sequence[Row], corrections: Sequence[Correction]) -> tuple[list[Row], list[Seen]]:
    """The corrected rows, and how each correction of the source went."""
    by_key: dict[str, list[Correction]] = {}
    for correction in corrections:
        by_key.setdefault(correction.key, []).append(correction)
    seen: dict[str, Seen] = {correction.name: Seen(correction, "not_seen") for correction in corrections}
    done: list[Row] = []
    for row in rows:
        mine = by_key.get(key_text(source, row.item), ())
        verdicts = [_verdict(correction, row) for correction in mine]
        values = {
            verdict.correction.field: verdict.correction.new for verdict in verdicts if verdict.status == "applied"
        }
        if values:
            try:
                row = dataclasses.replace(row, item=changed(source, row.item, values))
            except ValueError as error:
                verdicts = [
                    dataclasses.replace(verdict, status="refused", reason=str(error))
                    if verdict.status == "applied"
                    else verdict
                    for verdict in verdicts
                ]
        seen |= {verdict.correction.name: verdict for verdict in verdicts}
        done.append(row)
    return done, [*seen.values()]


def _verdict(correction: Correction, row: Row) -> Seen:
    try:
        value = text_of(row.item, correction.field)
    except KeyError:
        return Seen(
            correction, "refused", None, row.snapshot_sha256, f"a {row.item.KIND} has no field {correction.field!r}"
        )
    is_number = isinstance(getattr(row.item, correction.field), Decimal)
    status: Status = (
        "applied"
        if _same(value, correction.old, is_number)
        else "agreed"
        if _same(value, correction.new, is_number)
        else "outdated"
    )
    return Seen(correction, status, value, row.snapshot_sha256)


def _same(value: str | None, corrected: str | None, is_number: bool) -> bool:
    if value is None or corrected is None or not is_number:
        return value == corrected
    try:
        return Decimal(value) == Decimal(corrected)
    except ArithmeticError:
        return False


def issues(seen: Sequence[Seen], remedy: str) -> list[tuple[Issue, str | None]]:
    """An issue for each correction that a person should look at; `remedy` says how to change it."""
    return [
        (_issue(verdict, remedy), verdict.sha256) for verdict in seen if verdict.status not in ("applied", "not_seen")
    ]


def _issue(verdict: Seen, remedy: str) -> Issue:
    wrong = verdict.correction
    was, now = ("nothing" if value is None else repr(value) for value in (wrong.old, verdict.value))
    if verdict.status == "agreed":
        message = f"the source says {now} itself now, as the correction of {wrong.decided} does: {remedy}"
        return Issue(code="correction_agreed", severity="info", message=message, where=wrong.name, text=verdict.value)
    if verdict.status == "outdated":
        message = (
            f"the source has changed its mind: it says {now}, and the correction of {wrong.decided} was made against {was}; "
            f"the source's word counts: {remedy}"
        )
        return Issue(code="correction_outdated", message=message, where=wrong.name, text=verdict.value)
    message = f"the correction of {wrong.decided} cannot be put in: {verdict.reason}: {remedy}"
    return Issue(code="bad_correction", severity="error", message=message, where=wrong.name, text=wrong.new)


def keep(con: duckdb.DuckDBPyConnection, source: str, seen_at: datetime, seen: Sequence[Seen]) -> None:
    """Write the source's rows of core.correction."""
    con.execute("DELETE FROM core.correction WHERE source = ?", [source])
    append(con, "core.correction", [
        (source, c.key, c.field, c.old, c.new, c.reason, str(c.decided), verdict.status, verdict.value, seen_at,
         verdict.sha256)
        for verdict in seen for c in [verdict.correction]
    ])  # fmt: skip
