"""Decisions of people, kept as data with date and reason: a held price that may pass, a title that means a card."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from gpuledger.flows.setup.settings import SettingsError
from gpuledger.transform.identity.pins import Pin, PinError
from gpuledger.transform.identity.pins import read as read_pins
from gpuledger.warehouse.paths import DataDir


def _file(data: DataDir) -> Path:
    return data.root / "decisions" / "releases.jsonl"


def release(data: DataDir, listing_id: str, price: Decimal, currency: str, reason: str) -> None:
    """Let a held price pass at the next run. The listing and this price only: another price is judged anew."""
    path = _file(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    words = {
        "listing_id": listing_id, "price": str(price), "currency": currency, "reason": reason,
        "decided_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip
    with path.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(words, ensure_ascii=False) + "\n")


def releases(data: DataDir, decided_by: datetime) -> list[tuple[str, Decimal]]:
    """Listings and prices that a person let pass by then: a run knows those from before its start, and so does its replay.

    SettingsError, naming the line, where the file was edited badly.
    """
    path = _file(data)
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            words = json.loads(line)
            released = (str(words["listing_id"]), Decimal(words["price"]))
            if datetime.fromisoformat(words["decided_at"]) <= decided_by:
                found.append(released)
        except (ValueError, KeyError, TypeError, ArithmeticError) as error:
            raise SettingsError(f"{path}, line {number}: {error}; correct or remove the line") from None
    return found


def pins_file(data: DataDir) -> Path:
    """Where the pinned titles of a data directory are kept; see `transform.identity.pins`."""
    return data.root / "decisions" / "pins.toml"


def pins(data: DataDir) -> tuple[Pin, ...]:
    """Titles that a person pinned to a card. SettingsError, naming the file and the pin, where it was edited badly."""
    try:
        return read_pins(pins_file(data))
    except PinError as error:
        raise SettingsError(str(error)) from None
