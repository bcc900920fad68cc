"""Checks a batch or a mart against its contract. Rows are accepted, quarantined with a reason, refused or warned about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gpuledger.expectations import suite
from gpuledger.expectations.contract import Check, Contract
from gpuledger.items import Item

#: This many refused rows are allowed in any mart, because a mart of a small warehouse has only a few cards.
FEW = 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of checking a batch against its contract.

    `quarantined` maps the position of a row to the reason. Every other row is accepted. `refusal` is set if the whole batch
    must not be loaded. `warnings` describe what is odd but is loaded.
    """

    quarantined: dict[int, str]
    warnings: tuple[str, ...]
    refusal: str | None


def check_batch(contract: Contract, items: Sequence[Item]) -> Verdict:
    """Check one source's items. Raises AuditBroken if the check itself cannot run."""
    count = len(items)
    if count < contract.min_rows:
        few = f"{count} rows, and at least {contract.min_rows} are expected: {contract.rows_reason}"
        return Verdict({}, (), few)
    verdict = check_rows(contract, items)
    warnings, refusal = verdict.warnings, verdict.refusal
    if count > contract.max_rows:
        many = f"{count} rows, and at most {contract.max_rows} are expected: {contract.rows_reason}"
        warnings = (many, *warnings)
    if refusal is None and len(verdict.quarantined) > count * contract.max_quarantined_share:
        share = contract.max_quarantined_share
        refusal = (
            f"{len(verdict.quarantined)} of {count} rows break the contract, more than {share:.0%}: "
            f"the page or the parser is wrong rather than the rows; first reason: {next(iter(verdict.quarantined.values()))}"
        )
    return Verdict({} if refusal else verdict.quarantined, warnings, refusal)


def check_rows(contract: Contract, items: Sequence[Item]) -> Verdict:
    """Check the rows but not their number. A bulk load checks the rows of all nights at once in this way."""
    quarantined: dict[int, str] = {}
    warnings: list[str] = []
    for kind in sorted({item.KIND for item in items}):
        checks = [check for check in contract.checks if check.kind == kind]
        for finding in suite.run(_columns(kind, items, checks), checks):
            if finding.check.on_failure == "reject":
                return Verdict({}, tuple(warnings), f"{len(finding.rows)} rows break {finding.check.description}")
            if finding.check.on_failure == "warn":
                warnings.append(f"{len(finding.rows)} rows: {finding.check.description}")
                continue
            for row in finding.rows:
                quarantined[row] = "; ".join(filter(None, [quarantined.get(row), finding.check.description]))
    return Verdict(quarantined, tuple(warnings), None)


@dataclass(frozen=True, slots=True)
class MartVerdict:
    """The result of checking a built table against its contract.

    If there are `problems`, which are sentences, the table must not be published. `refused` maps the positions of rows that
    must not be in the table to the reason.
    """

    problems: tuple[str, ...]
    refused: dict[int, str]


def check_mart(contract: Contract, table: suite.Columns) -> MartVerdict:
    """Check a built table. Rows that break a rule with `quarantine` are refused.

    The table itself is broken if a check with `reject` fails (a key that is not unique), if it has too few or too many rows,
    or if more rows are refused than `max_quarantined_share` and FEW allow. Raises AuditBroken.
    """
    count = len(next(iter(table.values())))
    problems = []
    refused: dict[int, str] = {}
    if not contract.min_rows <= count <= contract.max_rows:
        problems.append(
            f"{contract.name} has {count} rows, and {contract.min_rows} to {contract.max_rows} are expected: "
            f"{contract.rows_reason}"
        )
    for finding in suite.run({suite.ROW: range(count), **table}, contract.checks):
        description = finding.check.description
        if finding.check.on_failure == "quarantine":
            refused |= {row: "; ".join(filter(None, [refused.get(row), description])) for row in finding.rows}
        elif finding.check.on_failure == "reject":
            example = {name: values[finding.rows[0]] for name, values in table.items()} if finding.rows else ""
            problems.append(f"{contract.name}: {len(finding.rows)} rows break {description}; the first: {example}")
    if len(refused) > max(FEW, count * contract.max_quarantined_share):
        problems.append(
            f"{contract.name}: {len(refused)} of {count} rows break its contract, more than "
            f"{contract.max_quarantined_share:.0%}: the model is wrong rather than the rows; the first reason: "
            f"{next(iter(refused.values()))}"
        )
    return MartVerdict(tuple(problems), refused)


def _columns(kind: str, items: Sequence[Item], checks: Sequence[Check]) -> suite.Columns:
    """The columns that `checks` name, from the items of one kind, with the position of each item."""
    chosen = [(position, item) for position, item in enumerate(items) if kind == item.KIND]
    columns: dict[str, Sequence[object]] = {suite.ROW: [position for position, _ in chosen]}
    for name in sorted({column for check in checks for column in suite.columns(check)}):
        columns[name] = plain([getattr(item, name) for _, item in chosen])
    return columns


def plain(values: Iterable[object]) -> list[object]:
    """The values with decimals as floats, because pandas has no column of decimals and floats suffice for bounds."""
    return [float(value) if isinstance(value, Decimal) else value for value in values]
