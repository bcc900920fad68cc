"""Builds the tables of a night, and audits them: every mart is checked against its contract before anything is published.

One bad row never stops a night: a row that the contract refuses is taken out of its table, before another table is built
from it, and recorded in ops.refused_row. A broken table stops the publish: a key that is not unique, too few rows, more than
a few refused rows, and any fault in a view, whose rows follow from tables that passed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import duckdb

from gpuledger.expectations.check import MartVerdict, check_mart, plain
from gpuledger.expectations.contract import mart_contract
from gpuledger.expectations.errors import AuditFailed
from gpuledger.expectations.suite import Columns
from gpuledger.flows.night.context import Context
from gpuledger.flows.settings.settings import texts
from gpuledger.transform.build import graph, price_days
from gpuledger.transform.build import run as builder
from gpuledger.transform.build.graph import Model, folder_of
from gpuledger.transform.build.refused import take_out
from gpuledger.transform.build.run import Build
from gpuledger.transform.report import answers
from gpuledger.transform.report.questions import Answered
from gpuledger.warehouse.read import columns_where

DAILY = "mart.price_daily"


@dataclass(frozen=True, slots=True)
class Built:
    """What was built: the action for each model, the first of the daily prices that were computed (None if none was), and
    the problems of the tables, as sentences.
    """

    models: list[Build]
    first_day: date | None
    problems: list[str]


def build(
    con: duckdb.DuckDBPyConnection,
    context: Context,
    changed: Collection[str],
    *,
    full: bool = False,
    since: price_days.Since | None = None,
) -> Built:
    """Build the tables that depend on those in `changed`, in the open transaction; with `full`, build all of them.

    `since` says from when on the tables changed, if that is known. Rows that a contract refuses are taken out and recorded.
    """
    builder.refresh_contents(con, changed)
    models = graph.load(con)
    builder.drop_retired(con, models)
    context.progress.step("build", len(models))
    # The days come first: which of tonight's prices are suspect follows from the days before.
    of_days = graph.needed(models, price_days.MODELS)
    others = [model for model in models if model not in of_days and model.name != answers.TABLE]
    place = {model.name: number for number, model in enumerate([*of_days, *others], start=1)}
    problems: list[str] = []

    def refuse(model: Model) -> None:
        context.progress.at(place[model.name], model.name)
        if context.engine != "published":  # a reader needs no Great Expectations, and has no contract with a publisher
            problems.extend(_refuse(con, context.run_id, model))

    builds = builder.build(con, of_days, context.run_id, force=full, refuse=refuse)
    first_day = price_days.keep(con, changed, since, force=full)
    builder.refresh_contents(con, ["core.suspect_price"])
    builds += builder.build(con, others, context.run_id, force=full, refuse=refuse)
    context.progress.at(len(models))
    return Built(builds, first_day, problems)


def answer(con: duckdb.DuckDBPyConnection, context: Context) -> tuple[Build, Sequence[Answered]]:
    """Build mart.answer, after all others and the rows of the run, as it asks what a reader asks. Returns the answers too.

    Raises AuditFailed.
    """
    set_here = texts(context.settings.assumptions_given)
    model, answered = answers.filled(con, graph.one(con, answers.TABLE), context.data, set_here, context.as_of)
    problems: list[str] = []
    (build,) = builder.build(
        con, [model], context.run_id, refuse=lambda one: problems.extend(_refuse(con, context.run_id, one))
    )  # fmt: skip
    if problems:
        raise AuditFailed(f"audit failed, nothing is published: {'; '.join(problems)}")
    return build, answered


def _refuse(con: duckdb.DuckDBPyConnection, run_id: str, model: Model) -> tuple[str, ...]:
    """Take out of a table that was just built the rows that its contract refuses, and record them; returns its problems."""
    verdict, table = _verdict(con, model.name)
    if verdict.refused and not verdict.problems:
        take_out(con, model, table, verdict.refused, run_id)
    return verdict.problems


def _verdict(con: duckdb.DuckDBPyConnection, model: str, more: str = "") -> tuple[MartVerdict, Columns]:
    """The verdict of a model's contract, and the columns that it was asked of; `more` leaves out more rows of it."""
    contract = mart_contract(model, folder_of(model))
    if contract is None:
        return MartVerdict((), {}), {}
    table = columns_where(con, model, contract.where + more)
    return check_mart(contract, {name: plain(values) for name, values in table.items()}), table


def audit(con: duckdb.DuckDBPyConnection, context: Context, built: Built) -> list[Build]:
    """The action for each model. Raises AuditFailed if a table or a view is broken.

    A table that this run did not rebuild passed when it was built. A view is never rebuilt, and its rows change with the
    tables that it reads, so every run that built a table checks all views. Of the daily prices it checks only the days from
    the first computed one on, as the earlier ones passed on their own night.
    """
    context.progress.step("audit")
    problems = [*built.problems]
    if any(build.action == "rebuilt" for build in built.models):
        for view in (build.model for build in built.models if build.rows < 0):
            newer = f" AND day >= DATE '{built.first_day or date.max}'" if view == DAILY else ""
            verdict, _ = _verdict(con, view, newer)
            broken = [f"{view}: {why}" for why in dict.fromkeys(verdict.refused.values())]
            problems += [*verdict.problems, *broken]
    if problems:
        raise AuditFailed(f"audit failed, nothing is published: {'; '.join(problems)}")
    return built.models
