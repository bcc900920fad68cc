"""The watches of a data directory: data that a person may read and edit, in `watches.toml`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal, get_args

from gpuledger.extract import local_files
from gpuledger.flows.setup.settings import SettingsError
from gpuledger.warehouse.paths import DataDir

Rule = Literal["below", "value_rank", "new_low", "fits"]
Basis = Literal["street", "msrp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One thing to be told of, once each time it becomes true.

    `below`: the street price of `gpu_id` is below `below`. `value_rank`: it is among the best `rank` of `workload` by
    score per dollar of `basis`. `new_low`: its street price is lower than on every day of the `days` before. `fits`:
    cards that hold `model` (at `precision` and `context_tokens`) cost less than `below` together; `gpu_id`, where it is
    given, names the card. Money is in `currency`, at the rate of the day on which it is looked at.
    """

    id: int
    rule: Rule
    gpu_id: str | None = None
    gpu: str | None = None
    below: Decimal | None = None
    currency: str = "USD"
    workload: str | None = None
    rank: int | None = None
    basis: Basis = "street"
    days: int | None = None
    model: str | None = None
    precision: str | None = None
    context_tokens: int | None = None
    added_on: date | None = None

    def amount(self, money: Decimal | None) -> str:
        """Money of its currency, as people write it."""
        if money is None:
            return ""
        return f"${money:,}" if self.currency == "USD" else f"{money:,f} {self.currency}"

    @property
    def waits_for(self) -> str:
        """What it waits for, in words."""
        below = self.amount(self.below)
        match self.rule:
            case "below":
                return f"{self.gpu} below {below}"
            case "value_rank":
                return f"{self.gpu} among the best {self.rank} of {self.workload} by {self.basis} price"
            case "new_low":
                return f"{self.gpu} at its lowest price of {self.days} days"
            case "fits":
                cards = self.gpu or "any cards"
                return f"{self.model} ({self.precision}, {self.context_tokens} tokens) on {cards} below {below}"


def path(data: DataDir) -> Path:
    """Where the watches of a data directory are."""
    return data.root / "watches.toml"


def load(data: DataDir) -> list[Watch]:
    """The watches, in the order of the file. Raises SettingsError, naming the place, where the file was edited badly."""
    file = path(data)
    if not file.exists():
        return []
    try:
        tables = local_files.read_toml(file, follow=True).get("watch", [])
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file}: {error}") from None
    if not isinstance(tables, list):
        raise SettingsError(f"{file}: each watch begins with a line [[watch]]; write them so")
    watches = [_watch(table, f"{file}: watch {position}") for position, table in enumerate(tables, start=1)]
    ids = [watch.id for watch in watches]
    if len(set(ids)) != len(ids):
        raise SettingsError(f"{file}: two watches have the same id")
    return watches


def add(data: DataDir, watch: Watch) -> Watch:
    """Keep a watch under the next free id. Raises SettingsError where the same one is there already."""
    known = load(data)
    for other in known:
        if replace(other, id=0, added_on=None) == replace(watch, id=0, added_on=None):
            raise SettingsError(f"watch {other.id} is the same: {other.waits_for}")
    added = replace(watch, id=max((other.id for other in known), default=0) + 1)
    save(data, [*known, added])
    return added


def remove(data: DataDir, number: int) -> Watch:
    """Drop the watch with this id. Raises SettingsError, with the known ids, where there is none."""
    known = load(data)
    removed = [watch for watch in known if watch.id == number]
    if not removed:
        ids = ", ".join(str(watch.id) for watch in known) or "none"
        raise SettingsError(f"there is no watch {number}; there are: {ids}")
    save(data, [watch for watch in known if watch.id != number])
    return removed[0]


def save(data: DataDir, watches: Sequence[Watch]) -> None:
    """Write the file whole, in one step."""
    file = path(data)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text("\n".join(_toml(watch) for watch in watches), encoding="utf-8")
    part.replace(file)


def _watch(table: dict[str, Any], place: str) -> Watch:
    if not isinstance(table, dict):
        raise SettingsError(f"{place}: it begins with a line [[watch]]; write it so")
    known = {f.name for f in fields(Watch)}
    if unknown := sorted(set(table) - known):
        raise SettingsError(f"{place}: unknown {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    for name, value in table.items():
        if not _is_of_kind(name, value):
            kind = "a whole number" if name in _WHOLE else "a day" if name == "added_on" else "a text"
            raise SettingsError(f"{place}: {name} is {kind}, and not {value!r:.80}")
    try:
        watch = Watch(**{**table, "below": Decimal(str(table["below"])) if "below" in table else None})
    except (TypeError, InvalidOperation) as error:
        raise SettingsError(f"{place}: {error}") from None
    needed = {
        "below": ("gpu_id", "below"), "value_rank": ("gpu_id", "workload", "rank"), "new_low": ("gpu_id", "days"),
        "fits": ("model", "precision", "context_tokens", "below"),
    }  # fmt: skip
    if watch.rule not in get_args(Rule):
        raise SettingsError(f"{place}: the rule {watch.rule!r} is none of {', '.join(get_args(Rule))}")
    if not re.fullmatch("[A-Z]{3}", watch.currency):
        raise SettingsError(f"{place}: {watch.currency!r} is no currency's code such as EUR")
    if watch.below is not None and not (watch.below.is_finite() and watch.below > 0):
        raise SettingsError(f"{place}: below is an amount above zero, and not {watch.below}")
    if missing := [name for name in needed[watch.rule] if getattr(watch, name) is None]:
        raise SettingsError(f"{place}: the rule {watch.rule} needs {', '.join(missing)}")
    return watch


_WHOLE = ("id", "rank", "days", "context_tokens")


def _is_of_kind(name: str, value: object) -> bool:
    if name in _WHOLE:
        return type(value) is int and value >= 0
    if name == "added_on":
        return type(value) is date
    return isinstance(value, str) or (name == "below" and type(value) in (int, float))


def _toml(watch: Watch) -> str:
    """One table. A JSON string is a TOML string, and a whole number or a date is written the same in both."""
    lines = ["[[watch]]"]
    for f in fields(watch):
        value = getattr(watch, f.name)
        if value is None:
            continue
        text = (
            value.isoformat()
            if isinstance(value, date)
            else str(value)
            if isinstance(value, int)
            else json.dumps(str(value))
        )
        lines.append(f"{f.name} = {text}")
    return "\n".join(lines) + "\n"
