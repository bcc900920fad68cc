"""Contracts: what a source's batch and a mart must look like, as TOML with the reason of every number.

`contract.toml` in the folder of a source or of a mart is its own, and `expectations/shared/<kind>.toml` holds the
checks that all sources of one kind of item have in common.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gpuledger.expectations.errors import ContractError
from gpuledger.extract import source as sources

SHARED = Path(__file__).with_name("shared")
#: Refused rows of a mart, as a share, beyond which it is the model that is wrong, and nothing is published: no page and no
#: inbox is a fifth of what is known.
MART_SHARE = 0.2

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
    """All rules of one source or mart. Row bounds are of the batch: fewer is a broken page, more a broken parser.

    `where` is the condition of the rows that are looked at, of a mart that is too large to be looked at whole.
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
    """The contract of a built table, `mart.value` for example, in its folder; None for one that needs none."""
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
        raise ContractError(f"{Path(error.filename).name} is missing: {name} cannot be checked") from None
    except (KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ContractError(f"the contract of {name}: {error}") from error


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
