"""Hold a batch or a mart against its contract: accepted, quarantined with a reason, refused, or warned about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gpuledger.expectations import suite
from gpuledger.expectations.contract import Check, Contract
from gpuledger.extract.items import Item

#: Refused rows of a mart that are never too many, however small it is: a small warehouse has a few cards.
FEW = 10


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
    """Check one source's items. Raises AuditBroken where the check itself cannot run."""
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
    """The checks of rows alone, whatever their number: what a bulk load asks of all nights at once."""
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
    """What a contract says of a built table: `problems` in words, for which it must not be published, and the rows that must
    not be in it, by their positions with the reason.
    """

    problems: tuple[str, ...]
    refused: dict[int, str]


def check_mart(contract: Contract, table: suite.Columns) -> MartVerdict:
    """Check a built table. A row that breaks a rule of rows is refused; a key that is not one, too few rows or too many, and
    more refused rows than `max_quarantined_share` (and FEW) are a broken table. Raises AuditBroken.
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
    """The columns of one kind's items that `checks` name, with the position of each item."""
    chosen = [(position, item) for position, item in enumerate(items) if kind == item.KIND]
    columns: dict[str, Sequence[object]] = {suite.ROW: [position for position, _ in chosen]}
    for name in sorted({column for check in checks for column in suite.columns(check)}):
        columns[name] = plain([getattr(item, name) for _, item in chosen])
    return columns


def plain(values: Iterable[object]) -> list[object]:
    """Amounts as floats: bounds need no more, and pandas has no column of decimals."""
    return [float(value) if isinstance(value, Decimal) else value for value in values]
