"""`gpuledger buy`: what to buy or rent to run a model, with the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from gpuledger.flows.commands import _complete
from gpuledger.flows.commands._assume import assume_option, with_assumed, with_texts
from gpuledger.flows.commands._explain import FIRST, explain_option
from gpuledger.flows.commands._memory import serving_options
from gpuledger.flows.commands._options import (
    currency_option,
    data_dir_option,
    format_option,
    market_option,
    read_from,
)  # fmt: skip
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.settings.assumptions import texts
from gpuledger.flows.showing import showing
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from gpuledger.flows.commands._buy_answer import Answer
    from gpuledger.transform.assumptions import Assumptions
    from gpuledger.transform.buying.need import Need, Usage
    from gpuledger.warehouse.paths import DataDir


@click.command()
@click.option(
    "--model",
    "model_id",
    required=True,
    metavar="M",
    shell_complete=_complete.models,
    help="Model to run; `gpuledger model list` lists all.",
)
@click.option("--precision", metavar="P", help="fp16, int8, int4, Q4_K_M … (default: int4, of an image model fp16).")
@click.option("--context", type=int, metavar="N", help="Tokens of context (default: 4096, or the model's own).")
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD",
              help="Most that the cards may cost, or the rent over the horizon.")  # fmt: skip
@click.option("--min-tokens-per-s", "--min-speed", type=click.FloatRange(0, min_open=True), metavar="R",
              help="Least speed that each user must see, in tokens a second.")  # fmt: skip
@click.option(
    "--users", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="People served at once."
)
@click.option(
    "--input", "prompt", type=click.IntRange(1), metavar="N", help="Length of the prompt of each person, in tokens."
)
@click.option(
    "--output", "answer", type=click.IntRange(1), metavar="N", help="Length of the answer to each person, in tokens."
)
@serving_options
@click.option("--hours-per-day", metavar="H", help="Hours a day in which it is on or rented.")
@click.option("--horizon-years", metavar="Y", help="Years until the card is sold.")
@click.option("--country", metavar="CC", help="Electricity at the household price of this country (US, KR, DE, EU …).")
@click.option("--condition", type=click.Choice(["new", "used", "any"]), default="new", show_default=True,
              help="Cards on sale new, used (also refurbished and opened), or both.")  # fmt: skip
@click.option("--limit", type=click.IntRange(0), metavar="N",
              help="Options to show; 0 for all (default: 10, with --explain 3).")  # fmt: skip
@explain_option
@assume_option
@market_option
@currency_option
@data_dir_option
@format_option
def command(
    model_id: str,
    precision: str | None,
    load: Usage,
    budget: float | None,
    min_tokens_per_s: float | None,
    kv_bits: str | None,
    hours_per_day: str | None,
    horizon_years: str | None,
    country: str | None,
    condition: str,
    limit: int | None,
    explain: bool,
    assumed: tuple[str, ...],
    data_dir: str | None,
    form: str,
) -> int:
    """Cards, nodes of 2 to 8, machines and rentals that run a model: the cheapest over the horizon first, with evidence."""
    from gpuledger.flows.commands._buy_answer import show_answer
    from gpuledger.warehouse.read import together

    data = read_from(data_dir)
    overrides = {"hours_per_day": hours_per_day, "horizon_years": horizon_years, "kv_cache_bits": kv_bits}
    question = Question(
        model_id, precision, load, budget, min_tokens_per_s, country, condition,
        {n: v for n, v in overrides.items() if v}, assumed,
    )  # fmt: skip
    if explain and form == "csv":
        raise click.UsageError(gettext("--explain needs --format table or json"))
    count = (FIRST if explain else 10) if limit is None else limit
    # The answer and its headings are read from one version, and only one connection is opened.
    with together(data):
        return show_answer(ask(question, data, count), data, count, form, explain=explain)


@dataclass(frozen=True, slots=True)
class Question:
    """The question as it was typed."""

    model_id: str
    precision: str | None
    load: Usage
    budget: float | None
    min_tokens_per_s: float | None
    country: str | None
    condition: str
    overrides: Mapping[str, str]
    assumed: tuple[str, ...]


def ask(question: Question, data: DataDir, limit: int) -> Answer:
    """The ways to run the model, of which the first `limit` are shown, all of them for 0.

    A usage error for a question that makes no sense. Raises NoWarehouse.
    """
    from gpuledger.flows.commands._buy_answer import Answer
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.buying import market
    from gpuledger.transform.buying.need import need_of, shape_of, usual_precision
    from gpuledger.transform.buying.options import Limits, Market, first_options, measured_first, options
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.warehouse.read import reader

    with reader(data) as con:
        assumptions = _assumptions(question, con)
        try:
            shape = shape_of(question.model_id, data.models)
            precision = question.precision or usual_precision(shape)
            need = need_of(question.model_id, shape, precision, question.load, assumptions)
        except SizingError as error:
            raise click.UsageError(say(error)) from None
        if question.min_tokens_per_s is not None and not need.writes:
            message = gettext("{model} does not write token by token: leave --min-tokens-per-s out")
            if need.tuning is not None:
                message = gettext("how fast {model} is trained is not known: leave --min-tokens-per-s out")
            raise click.UsageError(message.format(model=question.model_id))
        budget = None if question.budget is None else Decimal(str(question.budget))
        limits = Limits(
            budget_usd=budget, min_tokens_per_s=question.min_tokens_per_s, country=question.country, copies=True
        )
        learned = market.learned(con)
        need = replace(need, learned=learned)
        measured = market.measurements(con, need.model_id, need.precision)
        cards = market.cards(con, market.CONDITIONS[question.condition], showing.market())
        nodes = market.nodes(con, market.CONDITIONS[question.condition], showing.market())
        rented = market.instances(con)
        sold = [*(card.gpu_id for card in cards), *(node.gpu_id for node in nodes)]
        machines = market.machines(con, sold)
        chips = market.chips(con, [*sold, *(instance.gpu_id or "" for instance in rented)])
        pictures = {} if need.splits else market.pictures(con, need.model_id, need.precision)
        offered = Market(
            cards=cards, instances=rented, measured=measured, chips=chips, nodes=nodes, pictures=pictures, machines=machines
        )  # fmt: skip
        # With measured pictures all options are needed: options with a measured speed are listed before cheaper ones.
        first = first_options(need, limits, offered, assumptions, 0 if pictures else limit)
        answers = measured_first(first.options)
        now = market.now(con, utc_now())
        known, elsewhere = [], []
        if all(option.against for option in answers):
            known = market.known(con)
            other_cards = (
                [] if question.condition == "any" else market.cards(con, market.CONDITIONS["any"], showing.market())
            )
            chips |= market.chips(con, [card.gpu_id for card in other_cards])
            elsewhere = options(
                need, limits, Market(cards=other_cards, instances=[], measured=measured, chips=chips), assumptions
            )

    def at_precision(other_precision: str) -> Need | None:
        load = question.load
        if load.train is not None:
            if other_precision != "int4" or load.train == "qlora":
                return None
            load = replace(load, train="qlora")
        with suppress(SizingError):
            return replace(need_of(question.model_id, shape, other_precision, load, assumptions), learned=learned)
        return None

    return Answer(
        need=need,
        limits=limits,
        assumptions=assumptions,
        options=answers,
        more=first.more,
        unpriced=first.unpriced,
        now=now,
        at_precision=at_precision,
        known=known,
        elsewhere=next((option for option in elsewhere if not option.against), None),
    )


def _assumptions(question: Question, con: DuckDBPyConnection) -> Assumptions:
    """The assumptions of this question: those of the tables, overridden by the settings, and both by the question itself."""
    from gpuledger.transform.buying import market

    base = with_texts(market.assumptions(con), texts(settings_module.load({}).assumptions_given))
    if question.country is not None:
        try:
            price = market.electricity_usd(con, question.country)
        except LookupError as error:
            raise click.UsageError(str(error.args[0])) from None
        base = with_texts(base, {"electricity_usd_per_kwh": str(price)})
    return with_assumed(with_texts(base, dict(question.overrides)), question.assumed)
