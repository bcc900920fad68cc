"""Decisions of people, kept as data with date and reason: a held price that may pass, a source that has fewer rows than it
had, a title that means a card.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.extract import local_files
from gpuledger.flows.setup.settings import SettingsError
from gpuledger.transform.gate.good_nights import Acceptance, Released
from gpuledger.transform.identity.pins import Pin, PinError, read_pins
from gpuledger.warehouse.paths import DataDir


def _file(data: DataDir) -> Path:
    return data.root / "decisions" / "releases.jsonl"


def release(data: DataDir, listing_id: str, price: Decimal, currency: str, reason: str) -> None:
    """Let a held price pass at the next run. The listing and this price only: another price is judged anew."""
    _write(data, {"listing_id": listing_id, "price": str(price), "currency": currency, "reason": reason})


def accept(data: DataDir, source: str, rows: int, last_night: datetime, reason: str) -> None:
    """Say that a source has no more rows than on its last night: from the next run on, what it no longer shows has ended."""
    _write(data, {"source": source, "rows": rows, "last_night": last_night.isoformat(), "reason": reason})


def _write(data: DataDir, fields: dict[str, object]) -> None:
    path = _file(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    fields["decided_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(fields, ensure_ascii=False) + "\n")


def releases(data: DataDir, decided_by: datetime) -> Released:
    """What people let pass by then: a run knows what was decided before its start, and so does its replay.

    A line that cannot be read releases nothing, and stops no run; `damage` names it.
    """
    known = [one for _, one in _releases(_file(data)) if not isinstance(one, str) and one.decided_at <= decided_by]
    return Released(
        [one.what for one in known if not isinstance(one.what, Acceptance)],
        [one.what for one in known if isinstance(one.what, Acceptance)],
    )


def damage(data: DataDir) -> list[str]:
    """Each line of the releases that cannot be read, with its place and what to do."""
    path = _file(data)
    wrong = [(number, one) for number, one in _releases(path) if isinstance(one, str)]
    return [f"{path}, line {number}: {reason}; correct or remove the line" for number, reason in wrong]


class _Release(NamedTuple):
    what: tuple[str, Decimal] | Acceptance
    decided_at: datetime


def _what(fields: dict[str, Any]) -> tuple[str, Decimal] | Acceptance:
    """A listing with its price, or a source's short batch. Raises ValueError, KeyError, TypeError and ArithmeticError."""
    if "source" in fields:
        last_night = datetime.fromisoformat(fields["last_night"])
        return Acceptance(str(fields["source"]), int(fields["rows"]), last_night)
    return str(fields["listing_id"]), Decimal(fields["price"])


def _releases(path: Path) -> Iterator[tuple[int, _Release | str]]:
    """Each line with its number: the release, or why it cannot be read."""
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
            decided_at = datetime.fromisoformat(fields["decided_at"])
            if decided_at.tzinfo is None:
                raise ValueError("decided_at has no time zone")
            yield number, _Release(_what(fields), decided_at)
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            yield number, f"{type(error).__name__}: {error}"


def pins_file(data: DataDir) -> Path:
    """Where the pinned titles of a data directory are kept; see `transform.identity.pins`."""
    return data.root / "decisions" / "pins.toml"


def pins(data: DataDir) -> tuple[Pin, ...]:
    """Titles that a person pinned to a card. SettingsError, naming the file and the pin, where it was edited badly."""
    try:
        return read_pins(pins_file(data))
    except PinError as error:
        raise SettingsError(str(error)) from None
