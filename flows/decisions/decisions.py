"""Decisions of people, kept as data with date and reason: that a held price may pass, that a source now has fewer rows, and
which card a title means.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.extract import local_files
from gpuledger.extract.price.no_price import is_writable
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.transform.gate.good_nights import Acceptance, Released
from gpuledger.transform.identity.pins import Pin, PinError, read_pins
from gpuledger.warehouse.paths import DataDir


def _file(data: DataDir) -> Path:
    return data.root / "decisions" / "releases.jsonl"


def release(data: DataDir, listing_id: str, price: Decimal, currency: str, reason: str) -> None:
    """Let a held price of a listing pass at the next run. Only this price passes: another price is judged anew."""
    _write(data, {"listing_id": listing_id, "price": str(price), "currency": currency, "reason": reason})


def accept(data: DataDir, source: str, rows: int, last_night: datetime, reason: str) -> None:
    """Accept that a source has only the rows of its last night: at the next run, offers that it no longer shows end."""
    _write(data, {"source": source, "rows": rows, "last_night": last_night.isoformat(), "reason": reason})


def _write(data: DataDir, fields: dict[str, object]) -> None:
    path = _file(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    fields["decided_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    with path.open("ab+") as lines:
        # An editor may have left the last line without its end. Two decisions in one line could not be read.
        lines.seek(max(0, lines.seek(0, os.SEEK_END) - 1))
        is_open = lines.read(1) not in (b"", b"\n")
        lines.write(b"\n" * is_open + json.dumps(fields, ensure_ascii=False).encode() + b"\n")


def releases(data: DataDir, decided_by: datetime) -> Released:
    """What people had released by `decided_by`. A run, and so its replay, applies what was decided before its start.

    A line that cannot be read releases nothing and stops no run. `damage` names it.
    """
    known = [
        entry for _, entry in _releases(_file(data)) if not isinstance(entry, str) and entry.decided_at <= decided_by
    ]
    return Released(
        [entry.what for entry in known if not isinstance(entry.what, Acceptance)],
        [entry.what for entry in known if isinstance(entry.what, Acceptance)],
    )


def damage(data: DataDir) -> list[str]:
    """Each line of the releases that cannot be read, with its place and what to do."""
    path = _file(data)
    wrong = [(number, entry) for number, entry in _releases(path) if isinstance(entry, str)]
    return [f"{path}, line {number}: {reason}; correct or remove the line" for number, reason in wrong]


class _Release(NamedTuple):
    what: tuple[str, Decimal] | Acceptance
    decided_at: datetime


def _what(fields: dict[str, Any]) -> tuple[str, Decimal] | Acceptance:
    """A listing with its price, or a source's short batch. Raises ValueError, KeyError, TypeError and ArithmeticError."""
    if "source" in fields:
        rows = fields["rows"]
        if type(rows) is not int or not 0 <= rows < _MOST_ROWS:
            raise ValueError(f"rows is no number of rows: {rows!r:.40}")
        return Acceptance(_name(fields["source"]), rows, _time(fields["last_night"], "last_night"))
    price = Decimal(fields["price"]) if isinstance(fields["price"], str | int) else None
    if price is None or not is_writable(price) or price <= 0 or isinstance(fields["price"], bool):
        raise ValueError("the price is no amount above zero")
    return _name(fields["listing_id"]), price


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("there is no name of what is released")
    value.encode()  # raises ValueError for half a surrogate pair, which no table can hold
    return value


def _time(value: str, what: str) -> datetime:
    """A time with a time zone, so that it can be compared with every other."""
    time = datetime.fromisoformat(value)
    if time.tzinfo is None:
        raise ValueError(f"{what} has no time zone")
    return time.astimezone(UTC)


#: More than any source has.
_MOST_ROWS = 10**9


def _releases(path: Path) -> Iterator[tuple[int, _Release | str]]:
    """Each line's number, with the release of the line or the reason why it cannot be read."""
    try:
        lines = local_files.read_bytes(path, follow=True).split(b"\n") if path.exists() else []
    except OSError as error:
        yield 0, local_files.why(error)
        return
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = local_files.loads(line)
            yield number, _Release(_what(fields), _time(fields["decided_at"], "decided_at"))
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            yield number, f"{type(error).__name__}: {error}"[:300]


def pins_file(data: DataDir) -> Path:
    """The file with the pinned titles of a data directory; see `transform.identity.pins`."""
    return data.root / "decisions" / "pins.toml"


def pins(data: DataDir) -> tuple[Pin, ...]:
    """Titles that a person pinned to a card. Raises SettingsError, naming the file and the pin, if a pin is not valid."""
    try:
        return read_pins(pins_file(data))
    except PinError as error:
        raise SettingsError(str(error)) from None
