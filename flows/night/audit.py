"""The audit of a build: every mart that was rebuilt is held against its contract before anything is published."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import duckdb

from gpuledger.expectations.check import check_mart, plain
from gpuledger.expectations.contract import mart_contract
from gpuledger.expectations.errors import AuditFailed
from gpuledger.transform.build.graph import folder_of
from gpuledger.transform.build.run import Build
from gpuledger.warehouse.read import columns_where

DAILY = "mart.price_daily"


def audit(con: duckdb.DuckDBPyConnection, steps: Sequence[Build], first_day: date | None) -> None:
    """Check what a build in the open transaction made. Raises AuditFailed.

    A mart that was kept passed when it was built. A view is never rebuilt, and moves with what it reads: it is checked on
    every run that built a table. Of the daily prices it is the days from `first_day` on: the others passed on their night.
    """
    if not any(step.action == "rebuilt" for step in steps):
        return
    checked = [step.model for step in steps if step.action == "rebuilt" or step.rows < 0]
    problems = [words for model in checked for words in _problems(con, model, first_day)]
    if problems:
        raise AuditFailed(f"audit failed, nothing is published: {'; '.join(problems)}")


def _problems(con: duckdb.DuckDBPyConnection, model: str, first_day: date | None) -> list[str]:
    contract = mart_contract(model, folder_of(model))
    if contract is None:
        return []
    where = contract.where
    if model == DAILY:
        where += f" AND day >= DATE '{first_day or date.max}'"
    table = columns_where(con, model, where)
    return check_mart(contract, {name: plain(values) for name, values in table.items()})
