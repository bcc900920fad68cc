"""The audit of a build: every mart that was rebuilt is held against its contract before anything is published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

import duckdb

from gpuledger.expectations.check import ask_mart, plain
from gpuledger.expectations.contract import mart_contract
from gpuledger.expectations.errors import AuditFailed
from gpuledger.transform.build.graph import Model, folder_of
from gpuledger.transform.build.run import Build

DAILY = "mart.price_daily"


class Audit:
    """The audit of one build in the open transaction. A table is asked about as soon as it is built, while others still are;
    a mart that was kept passed when it was built.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, models: Sequence[Model]) -> None:
        self._con = con
        #: What reads the daily prices, which are kept after the build.
        self._late = {"core.price_day"}
        for model in models:
            if self._late & model.inputs.keys():
                self._late.add(model.name)
        self._answers: dict[str, Callable[[], list[str]]] = {}

    def ask(self, step: Build) -> None:
        """Ask about what `step` rebuilt, if it is complete."""
        if step.action == "rebuilt" and step.model not in self._late:
            self._ask(step.model, "")

    def close(self, steps: Sequence[Build], first_day: date | None) -> None:
        """Wait for all answers. Raises AuditFailed.

        A view is never rebuilt, and moves with what it reads: it is checked with the others, on every run that built one. Of
        the daily prices it is the days from `first_day` on: the others passed on their night.
        """
        if any(step.action == "rebuilt" for step in steps):
            for step in steps:
                is_view = step.rows < 0
                if (is_view or step.action == "rebuilt") and step.model not in self._answers:
                    self._ask(step.model, f"AND day >= DATE '{first_day or date.max}'" if step.model == DAILY else "")
        problems = [words for step in steps if step.model in self._answers for words in self._answers[step.model]()]
        if problems:
            raise AuditFailed(f"audit failed, nothing is published: {'; '.join(problems)}")

    def _ask(self, model: str, days: str) -> None:
        contract = mart_contract(model, folder_of(model))
        if contract is not None:
            found = self._con.execute(f"SELECT * FROM {model} WHERE {contract.where} {days}")
            names = [column[0] for column in found.description]
            rows = found.fetchall()
            table = {name: plain(row[place] for row in rows) for place, name in enumerate(names)}
            self._answers[model] = ask_mart(contract, table)
