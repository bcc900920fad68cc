"""Hold a batch or a mart against its contract: accepted, quarantined with a reason, refused, or warned about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING

from expectations import suite
from expectations.contract import Contract
from extract.items import Item

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a contract says of a batch.

    `quarantined` maps a row's position to the reason; every other row is accepted. `refusal` is set where the whole
    batch must not be loaded. `warnings` are odd, but load.
    """

    quarantined: dict[int, str]
    warnings: tuple[str, ...]
    refusal: str | None


def check_batch(contract: Contract, items: Sequence[Item]) -> Verdict:
    """Check one source's items. Raises suite.AuditBroken where the check itself cannot run."""
    count = len(items)
    if count < contract.min_rows:
        return Verdict({}, (), f"{count} rows, and at least {contract.min_rows} are expected: {contract.rows_reason}")
    quarantined: dict[int, str] = {}
    warnings: list[str] = []
    if count > contract.max_rows:
        warnings.append(f"{count} rows, and at most {contract.max_rows} are expected: {contract.rows_reason}")
    for kind in sorted({item.KIND for item in items}):
        frame = _frame(kind, items)
        for finding in suite.run(frame, [check for check in contract.checks if check.kind == kind]):
            if finding.check.on_failure == "reject":
                return Verdict({}, tuple(warnings), f"{len(finding.rows)} rows break {finding.check.words}")
            if finding.check.on_failure == "warn":
                warnings.append(f"{len(finding.rows)} rows: {finding.check.words}")
                continue
            for row in finding.rows:
                quarantined[row] = "; ".join(filter(None, [quarantined.get(row), finding.check.words]))
    if count and len(quarantined) / count > contract.max_quarantined_share:
        share = f"{len(quarantined)} of {count} rows"
        return Verdict(
            {}, tuple(warnings), f"{share} break the contract, more than {contract.max_quarantined_share:.0%}: "
            f"the page or the parser is wrong rather than the rows; first reason: {next(iter(quarantined.values()))}"
        )  # fmt: skip
    return Verdict(quarantined, tuple(warnings), None)


def check_mart(contract: Contract, frame: pd.DataFrame) -> list[str]:
    """What is wrong with a built table, in words; empty where it may be published. Raises suite.AuditBroken."""
    problems = []
    if not contract.min_rows <= len(frame) <= contract.max_rows:
        problems.append(
            f"{contract.name} has {len(frame)} rows, and {contract.min_rows} to {contract.max_rows} are expected: "
            f"{contract.rows_reason}"
        )
    frame = frame.assign(**{suite.ROW: range(len(frame))})
    for finding in suite.run(frame, contract.checks):
        if finding.check.on_failure != "warn":
            example = frame.iloc[finding.rows[0]].drop(suite.ROW).to_dict() if finding.rows else ""
            problems.append(
                f"{contract.name}: {len(finding.rows)} rows break {finding.check.words}; the first: {example}"
            )
    return problems


def _frame(kind: str, items: Sequence[Item]) -> pd.DataFrame:
    """Items of one kind as columns, with the position of each in `items`. Amounts become floats: bounds need no more."""
    import pandas as pd

    chosen = [(position, item) for position, item in enumerate(items) if kind == item.KIND]
    columns: dict[str, list[object]] = {suite.ROW: [position for position, _ in chosen]}
    for field in fields(chosen[0][1]):
        columns[field.name] = [_plain(getattr(item, field.name)) for _, item in chosen]
    return pd.DataFrame(columns)


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value
