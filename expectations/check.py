"""Hold a batch or a mart against its contract: accepted, quarantined with a reason, refused, or warned about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gpuledger.expectations import aside, suite
from gpuledger.expectations.contract import Check, Contract
from gpuledger.extract.items import Item


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
    return ask_batch(contract, items)()


def ask_batch(contract: Contract, items: Sequence[Item]) -> Callable[[], Verdict]:
    """`check_batch` in two steps: what is returned waits for the verdict, which another process may find meanwhile."""
    count = len(items)
    if count < contract.min_rows:
        few = f"{count} rows, and at least {contract.min_rows} are expected: {contract.rows_reason}"
        return lambda: Verdict({}, (), few)
    many = f"{count} rows, and at most {contract.max_rows} are expected: {contract.rows_reason}"
    asked = _ask_rows(contract, items)
    return lambda: _of_batch(contract, count, [many] if count > contract.max_rows else [], asked())


def _of_batch(contract: Contract, count: int, warnings: list[str], verdict: Verdict) -> Verdict:
    warnings += verdict.warnings
    refusal = verdict.refusal
    if refusal is None and len(verdict.quarantined) > count * contract.max_quarantined_share:
        share = contract.max_quarantined_share
        refusal = (
            f"{len(verdict.quarantined)} of {count} rows break the contract, more than {share:.0%}: "
            f"the page or the parser is wrong rather than the rows; first reason: {next(iter(verdict.quarantined.values()))}"
        )
    return Verdict({} if refusal else verdict.quarantined, tuple(warnings), refusal)


def check_rows(contract: Contract, items: Sequence[Item]) -> Verdict:
    """The checks of rows alone, whatever their number: what a bulk load asks of all nights at once."""
    return _ask_rows(contract, items)()


def _ask_rows(contract: Contract, items: Sequence[Item]) -> Callable[[], Verdict]:
    answers = []
    for kind in sorted({item.KIND for item in items}):
        checks = [check for check in contract.checks if check.kind == kind]
        answers.append(aside.ask(_columns(kind, items, checks), checks))
    return lambda: _of_rows(answers)


def _of_rows(answers: Iterable[aside.Answer]) -> Verdict:
    quarantined: dict[int, str] = {}
    warnings: list[str] = []
    for answer in answers:
        for finding in answer():
            if finding.check.on_failure == "reject":
                return Verdict({}, tuple(warnings), f"{len(finding.rows)} rows break {finding.check.words}")
            if finding.check.on_failure == "warn":
                warnings.append(f"{len(finding.rows)} rows: {finding.check.words}")
                continue
            for row in finding.rows:
                quarantined[row] = "; ".join(filter(None, [quarantined.get(row), finding.check.words]))
    return Verdict(quarantined, tuple(warnings), None)


def check_mart(contract: Contract, table: suite.Columns) -> list[str]:
    """What is wrong with a built table, in words; empty where it may be published. Raises AuditBroken."""
    return ask_mart(contract, table)()


def ask_mart(contract: Contract, table: suite.Columns) -> Callable[[], list[str]]:
    """`check_mart` in two steps: what is returned waits for the answer, which another process may find meanwhile."""
    count = len(next(iter(table.values())))
    answer = aside.ask({suite.ROW: range(count), **table}, contract.checks)
    return lambda: _of_mart(contract, table, count, answer())


def _of_mart(contract: Contract, table: suite.Columns, count: int, findings: Sequence[suite.Finding]) -> list[str]:
    problems = []
    if not contract.min_rows <= count <= contract.max_rows:
        problems.append(
            f"{contract.name} has {count} rows, and {contract.min_rows} to {contract.max_rows} are expected: "
            f"{contract.rows_reason}"
        )
    for finding in findings:
        if finding.check.on_failure != "warn":
            example = {name: values[finding.rows[0]] for name, values in table.items()} if finding.rows else ""
            problems.append(
                f"{contract.name}: {len(finding.rows)} rows break {finding.check.words}; the first: {example}"
            )
    return problems


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
