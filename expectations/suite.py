"""Runs checks on a pandas frame with Great Expectations, and says which rows fail which check.

It uses frames and not DuckDB: on DuckDB every metric of version 1.24 raises, and Great Expectations reports that as
`success=False` with an empty result, which looks like bad data. The import of Great Expectations takes seconds, so only
`library` imports it, when it is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from gpuledger.expectations import library
from gpuledger.expectations.contract import Check
from gpuledger.expectations.errors import AuditBroken

#: A table as a mapping from column names to values.
Columns = Mapping[str, Sequence[Any]]

#: The column that identifies a row in a result: the row's position in the frame, from 0.
ROW = "row"


@dataclass(frozen=True, slots=True)
class Finding:
    """A check that failed, with the rows that broke it. A check of the whole frame has no rows."""

    check: Check
    rows: tuple[int, ...]


def run(table: Columns, checks: Sequence[Check]) -> list[Finding]:
    """The failed checks of a table that has the column `row`. Raises AuditBroken if a check itself fails to run."""
    columns_to_check = _columns_to_check(table, checks)
    if not columns_to_check:
        return []
    import pandas as pd

    frame = pd.DataFrame(columns_to_check)
    # Absent values pass every rule except not_null. So an empty column need not be checked, which saves time.
    checks = [check for check in checks if check.rule == "not_null" or frame[columns(check)].notna().any(axis=None)]
    if not checks:
        return []
    batch = frames().get_batch(batch_parameters={"dataframe": frame})
    # Testing whether a check holds takes half as long as listing the rows that break it, and nearly all checks hold.
    doubtful = [finding.check for finding in _failed(batch, checks, "BOOLEAN_ONLY")]
    return _failed(batch, doubtful, "COMPLETE") if doubtful else []


def _columns_to_check(table: Columns, checks: Sequence[Check]) -> Columns:
    """The columns of `table` that `checks` read, and the column `row`. Empty if there is nothing to check.

    Raises AuditBroken for a column that the table does not have.
    """
    if not checks or len(table[ROW]) == 0:
        return {}
    names = sorted({name for check in checks for name in columns(check)})
    if missing := [name for name in names if name not in table]:
        raise AuditBroken(f"audit broken: the checks name columns that are not there: {', '.join(missing)}")
    return {name: table[name] for name in (ROW, *names)}


def _failed(batch: Any, checks: Sequence[Check], detail: Literal["BOOLEAN_ONLY", "COMPLETE"]) -> list[Finding]:
    """The checks that fail, in the order of the contract. Raises AuditBroken if a check could not run."""
    import great_expectations as gx

    expectations = [_expectation(check) for check in checks]
    for position, expectation in enumerate(expectations):
        expectation.meta = {"position": position}
    # All at once, because `add_expectation` compares each with all earlier ones, which takes longer than the validation.
    suite = gx.ExpectationSuite(name="checks", expectations=expectations)
    result_format: dict[str, Any] = {"result_format": detail}
    if detail == "COMPLETE":
        result_format["unexpected_index_column_names"] = [ROW]
    result = batch.validate(suite, result_format=result_format)
    # The library groups its results by column.
    outcomes = sorted(result.results, key=lambda outcome: outcome.expectation_config.meta["position"])
    findings = [_finding(checks[outcome.expectation_config.meta["position"]], outcome) for outcome in outcomes]
    return [finding for finding, outcome in zip(findings, outcomes, strict=True) if not outcome.success]


def _finding(check: Check, outcome: Any) -> Finding:
    details = outcome.exception_info or {}
    # Either one entry or one entry per metric. In both cases an exception means a broken audit and not bad data.
    entries = [details] if "raised_exception" in details else list(details.values())
    raised = [entry for entry in entries if isinstance(entry, dict) and entry.get("raised_exception")]
    if raised:
        message = str(raised[0].get("exception_message")).splitlines()[0]
        raise AuditBroken(f"audit broken: the check of {check.column} ({check.rule}) could not run: {message}")
    return Finding(
        check, tuple(sorted({int(entry[ROW]) for entry in outcome.result.get("unexpected_index_list") or []}))
    )


def columns(check: Check) -> list[str]:
    """The names of the columns that a check reads."""
    return [*check.column.split(","), *([check.arguments["other"]] if "other" in check.arguments else [])]


def _expectation(check: Check) -> Any:
    import great_expectations.expectations as gxe

    bounds = check.arguments
    match check.rule:
        case "between":
            return gxe.ExpectColumnValuesToBeBetween(
                column=check.column, min_value=bounds.get("min"), max_value=bounds.get("max")
            )
        case "not_null":
            return gxe.ExpectColumnValuesToNotBeNull(column=check.column)
        case "in_set":
            return gxe.ExpectColumnValuesToBeInSet(column=check.column, value_set=bounds["values"])
        case "matches":
            return gxe.ExpectColumnValuesToMatchRegex(column=check.column, regex=bounds["pattern"])
        case "length_between":
            return gxe.ExpectColumnValueLengthsToBeBetween(
                column=check.column, min_value=bounds.get("min"), max_value=bounds.get("max")
            )
        case "unique":
            columns = check.column.split(",")
            if len(columns) == 1:
                return gxe.ExpectColumnValuesToBeUnique(column=columns[0])
            return gxe.ExpectCompoundColumnsToBeUnique(column_list=columns)
        case "pair_at_least":
            # Rows in which either value is absent are skipped. Otherwise the library counts them as failures.
            return gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                column_A=check.column, column_B=bounds["other"], or_equal=True, ignore_row_if="either_value_is_missing"
            )


@cache
def frames() -> Any:
    """The batch definition that takes frames: one in-memory context per process, with one asset for all frames.

    Telemetry and progress bars are off, because nobody asked for their output.
    """
    library.load()
    import great_expectations as gx
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    config = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(),
        progress_bars=ProgressBarsConfig(globally=False, metric_calculations=False),
        analytics_enabled=False,
    )
    context = gx.get_context(mode="ephemeral", project_config=config)
    return (
        context.data_sources.add_pandas("frames")
        .add_dataframe_asset("frame")
        .add_batch_definition_whole_dataframe("whole")
    )
