"""Contracts: the rules for a source's batch or for a mart, as TOML with the reason of every number.

Each source and each mart has its own `contract.toml` in its folder. `expectations/shared/<kind>.toml` has the checks that
all sources of one kind of item share.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gpuledger.expectations.errors import ContractError
from gpuledger.extract import source as sources
from gpuledger.message import Message

SHARED = Path(__file__).with_name("shared")
#: If a larger share of a mart's rows is refused, the model is wrong and nothing is published: no single page and no inbox
#: contributes a fifth of all rows.
MART_SHARE = 0.2

#: A column went empty if more of the rows than this share lack it that had it on each of the last good nights. A smaller
#: share changes with the goods of a shop: by this limit and by that of new listings 23 of 1,123 real nights of a market were
#: named, on 22 of which prices, stock or sellers were missing.
MOST_EMPTIED = 0.15

OnFailure = Literal["reject", "quarantine", "warn"]
Rule = Literal["between", "not_null", "in_set", "matches", "unique", "pair_at_least", "length_between"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule on the rows of one kind. `reason` says why the bound is where it is."""

    kind: str
    rule: Rule
    column: str
    arguments: Mapping[str, Any]
    on_failure: OnFailure
    reason: str

    @property
    def description(self) -> str:
        """The rule and its bound, for a quarantined row's reason."""
        bound = ", ".join(f"{name} {value}" for name, value in self.arguments.items())
        return f"{self.column}: {self.rule.replace('_', ' ')}{f' ({bound})' if bound else ''}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All rules of one source or mart. `min_rows` and `max_rows` limit the rows of the batch.

    Fewer rows mean a broken page, and more rows a broken parser. `where` is an SQL condition that selects the rows to check,
    for a mart that is too large to check completely.
    """

    name: str
    min_rows: int
    max_rows: int
    rows_reason: str
    max_quarantined_share: float
    checks: tuple[Check, ...]
    where: str = "true"


def source_contract(source: str) -> Contract:
    """The contract of a source. Raises ContractError."""
    return _load(sources.folder(source) / "contract.toml", source)


def mart_contract(table: str, folder: Path) -> Contract | None:
    """The contract of a built table (`mart.value`, for example) from its folder. None if the table needs no contract."""
    path = folder / "contract.toml"
    return _load(path, table, MART_SHARE) if path.exists() else None


def _load(path: Path, name: str, share: float = 0.0) -> Contract:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = document["rows"]
        checks = [_check(entry) for entry in document.get("check", [])]
        for shared in document.get("include", []):
            shared_checks = tomllib.loads((SHARED / f"{shared}.toml").read_text(encoding="utf-8"))
            checks += [_check({"kind": shared, **entry}) for entry in shared_checks["check"]]
        return Contract(
            name=name,
            min_rows=rows["min"],
            max_rows=rows["max"],
            rows_reason=rows["reason"],
            max_quarantined_share=document.get("quarantine", {}).get("max_share", share),
            checks=tuple(checks),
            where=rows.get("where", "true"),
        )
    except FileNotFoundError as error:
        raise ContractError(
            Message("{path} is missing: {name} cannot be checked", path=Path(error.filename).name, name=name)
        ) from None
    except (KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ContractError(Message("the contract of {name}: {error}", name=name, error=error)) from error


def _check(entry: Mapping[str, Any]) -> Check:
    known = {"kind", "rule", "column", "on_failure", "reason"}
    if not str(entry["reason"]).strip():
        raise KeyError(f"the check of {entry['column']} has no reason")
    return Check(
        kind=entry.get("kind", ""),
        rule=entry["rule"],
        column=entry["column"],
        arguments={name: value for name, value in entry.items() if name not in known},
        on_failure=entry["on_failure"],
        reason=entry["reason"],
    )
