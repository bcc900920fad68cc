"""The audit of a build: it checks every mart against its contract before anything is published.

One bad row never stops a night: the audit takes a row that the contract refuses out of its table, before another table is
built from it, and records it in ops.refused_row. A broken table stops the publish: a key that is not unique, too few rows,
more than a few refused rows, and any fault in a view, whose rows follow from tables that passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import duckdb

from gpuledger.expectations.check import MartVerdict, check_mart, plain
from gpuledger.expectations.contract import mart_contract
from gpuledger.expectations.errors import AuditFailed
from gpuledger.transform.build.graph import Model, folder_of
from gpuledger.transform.build.refused import take_out
from gpuledger.transform.build.run import Build
from gpuledger.warehouse.read import columns_where

DAILY = "mart.price_daily"


class Audit:
    """The audit of one build, in the open transaction."""

    def __init__(self, con: duckdb.DuckDBPyConnection, run_id: str) -> None:
        self._con, self._run_id = con, run_id
        self._problems: list[str] = []

    def refuse(self, model: Model) -> None:
        """Take out of a table that was just built the rows that its contract refuses, and record them."""
        contract = mart_contract(model.name, folder_of(model.name))
        if contract is None:
            return
        table = columns_where(self._con, model.name, contract.where)
        verdict = check_mart(contract, {name: plain(values) for name, values in table.items()})
        self._problems += verdict.problems
        if verdict.refused and not verdict.problems:
            take_out(self._con, model, table, verdict.refused, self._run_id)

    def finish(self, steps: Sequence[Build], first_day: date | None) -> None:
        """Raise AuditFailed if a table or a view is broken.

        A table that this run did not rebuild passed when it was built. A view is never rebuilt, and its rows change with the
        tables that it reads, so every run that built a table checks all views. Of the daily prices it checks only the days
        from `first_day` on, as the earlier ones passed on their own night.
        """
        if any(step.action == "rebuilt" for step in steps):
            for step in steps:
                if step.rows < 0:
                    verdict = self._view(step.model, first_day)
                    broken = [f"{step.model}: {why}" for why in dict.fromkeys(verdict.refused.values())]
                    self._problems += [*verdict.problems, *broken]
        if self._problems:
            raise AuditFailed(f"audit failed, nothing is published: {'; '.join(self._problems)}")

    def _view(self, model: str, first_day: date | None) -> MartVerdict:
        contract = mart_contract(model, folder_of(model))
        if contract is None:
            return MartVerdict((), {})
        where = contract.where
        if model == DAILY:
            where += f" AND day >= DATE '{first_day or date.max}'"
        table = columns_where(self._con, model, where)
        return check_mart(contract, {name: plain(values) for name, values in table.items()})
