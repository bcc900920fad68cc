"""Answers a question about buying or renting. Every door asks here: terminal, report, agent, files, workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

from gpuledger.extract.message import Message, Mistake
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.advice import cheaper_ruled_out, what_would
from gpuledger.transform.buying.hosts import hosts
from gpuledger.transform.buying.market import CONDITIONS, Hosted, OfferFilter
from gpuledger.transform.buying.need import Need, Usage, need_of
from gpuledger.transform.buying.options import NODES, FirstOptions, Limits, Option, by_piece, first_options
from gpuledger.transform.buying.stock import Stock
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.named import shape_of, usual_precision

Condition = Literal["new", "used", "any"]
#: The sentence first speaks of so many answers, however many are shown, so that it is the same at every door.
SAID = 8


class ImpossibleQuestion(Mistake):
    """A question that makes no sense. Its message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. Every door asks with these arguments, and an argument that it cannot take is an error there.

    `budget` is in the currency that is shown: what may be paid on day one, or with `for_cards` for the cards alone. `owned`
    has a gpu_id for each card that the user has, and `has_host` says whether there is a machine for them. It takes
    `slots` cards of double width, or as many as a desktop if that is None. `shops` are sources or sellers whose offers alone
    count, all of them if it is empty. `assumed` has the
    assumptions that this question changes, such as the hours a day. `country` decides electricity and outlet, None for the
    country of the market.
    """

    model: str
    precision: str | None = None
    usage: Usage = field(default_factory=Usage)
    budget: Decimal | None = None
    for_cards: bool = False
    min_tokens_per_s: float | None = None
    condition: Condition = "new"
    country: str | None = None
    owned: tuple[str, ...] = ()
    has_host: bool = False
    slots: int | None = None
    shops: tuple[str, ...] = ()
    assumed: Mapping[str, str] = field(default_factory=dict)


class Blocked(NamedTuple):
    """An argument of a question without an answer: how many answers there are without it, and the first of them."""

    argument: str
    answers: int
    first: Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The question and the options for it, the cheapest first.

    `options` goes up to the last option that is shown; if no option is an answer, it has all of them. `more` counts the
    answers behind those, and `unpriced` are the ones among them without a price. `rentals` are all rentals that hold the
    model, and `hosted` what interfaces ask that host it. If no option is an answer, `blocked` has the arguments without any
    one of which there are answers, the one that rules out most first, and `way_outs` has what else would help.
    """

    question: Question
    need: Need
    limits: Limits
    assumptions: Assumptions
    stock: Stock
    options: Sequence[Option]
    more: int
    unpriced: Sequence[Option]
    rentals: Sequence[Option]
    hosted: Sequence[Hosted] = ()
    blocked: Sequence[Blocked] = ()
    way_outs: Sequence[Message] = ()

    def ranked(self, limit: int) -> list[tuple[Option, Message | None]]:
        """The first `limit` answers, all for 0, each with what rules out the next cheaper option."""
        ruled_out = cheaper_ruled_out(self.options)
        return [(self.options[place], why) for place, why in list(ruled_out.items())[: limit or None]]


def ask(question: Question, stock: Stock, own_models: Path, limit: int) -> Answer:
    """The ways to run the model, of which the first `limit` are shown, all of them for 0.

    `own_models` is the folder of the models that the user added. Raises SizingError and ImpossibleQuestion for a question
    that makes no sense, and ImpossibleAssumption.
    """
    assumptions = stock.assumptions.with_text(question.assumed)
    shape = shape_of(question.model, own_models)

    def needed(precision: str, usage: Usage) -> Need:
        key = (question.model, precision, usage, assumptions)
        if key not in stock.needs:
            need = need_of(question.model, shape, precision, usage, assumptions)
            stock.needs[key] = replace(need, learned=stock.learned)
        return stock.needs[key]

    precision = question.precision or usual_precision(shape, question.model)
    need = needed(precision, question.usage)
    if question.min_tokens_per_s is not None and not need.writes and need.tuning is None:
        raise ImpossibleQuestion("headline.no_tokens", model=question.model)
    limits = Limits(
        budget=question.budget, currency=stock.place.currency, for_cards=question.for_cards, has_host=question.has_host,
        slots=hosts()[0].cards if question.slots is None else question.slots,
        owned=tuple(sorted({name: question.owned.count(name) for name in question.owned}.items())),
        min_tokens_per_s=question.min_tokens_per_s, country=stock.country, machine_tax=stock.place.machine_tax,
    )  # fmt: skip
    shops = tuple(sorted({name.lower() for name in question.shops})) or None
    if shops and not stock.shops():
        raise ImpossibleQuestion("headline.no_shop_read")
    if shops and (unknown := [name for name in shops if name not in {known.lower() for known in stock.shops()}]):
        raise ImpossibleQuestion("headline.no_such_shop", shop=unknown[0], known=tuple(stock.shops()))
    asked = OfferFilter(CONDITIONS[question.condition], owned=question.owned, shops=shops)
    offered = stock.offered(need, asked)
    # All options are needed for what follows from the matrix rate, as those of unknown speed are listed last, and for cards
    # that are there, as the first answer with them is said wherever it stands.
    needs_all = need.is_by_rate or question.owned
    first = first_options(need, limits, offered, assumptions, 0 if needs_all else limit and max(limit, SAID))
    answer = Answer(
        question=question, need=need, limits=limits, assumptions=assumptions, stock=stock,
        options=by_piece(need, first.options), more=first.more, unpriced=first.unpriced, rentals=first.rentals,
        hosted=stock.hosted(need.model_id) if need.writes else (),
    )  # fmt: skip
    if any(not option.against for option in answer.options):
        return answer

    def at_precision(other: str) -> Need | None:
        usage = question.usage
        if usage.train is not None:
            if other != "int4" or usage.train == "qlora":
                return None
            usage = replace(usage, train="qlora")
        with suppress(SizingError):
            return needed(other, usage)
        return None

    def without(need: Need, limits: Limits, condition: Condition) -> FirstOptions:
        is_same = condition == question.condition
        offers = offered if is_same else stock.offered(need, asked._replace(conditions=CONDITIONS[condition]))
        return first_options(need, limits, offers, assumptions, 1)

    return replace(
        answer,
        blocked=_blocked(question, need, limits, needed, without),
        way_outs=list(what_would(answer.options, limits, need, at_precision, stock.known())),
    )


def _blocked(
    question: Question,
    need: Need,
    limits: Limits,
    needed: Callable[[str, Usage], Need],
    without: Callable[[Need, Limits, Condition], FirstOptions],
) -> list[Blocked]:
    """The arguments without any one of which there are answers, the one that rules out most first."""

    def tries() -> Iterator[tuple[str, FirstOptions]]:
        if limits.budget is not None:
            yield "--budget", without(need, replace(limits, budget=None), question.condition)
        if limits.min_tokens_per_s is not None:
            yield "--min-tokens-per-s", without(need, replace(limits, min_tokens_per_s=None), question.condition)
        if limits.budget is not None and not limits.has_host and not limits.for_cards:
            yield "--host own", without(need, replace(limits, has_host=True), question.condition)
        if limits.has_host:
            yield "--slots", without(need, replace(limits, slots=max(NODES)), question.condition)
        if question.condition != "any":
            yield f"--condition {question.condition}", without(need, limits, "any")
        for name, usage in (
            ("--users", replace(question.usage, users=1)),
            ("--context", replace(question.usage, context=None)),
        ):
            if usage != question.usage:
                with suppress(SizingError):
                    yield name, without(needed(need.precision, usage), limits, question.condition)

    found = [
        Blocked(argument, first.more + 1, option)
        for argument, first in tries()
        if (option := next((option for option in first.options if not option.against), None)) is not None
    ]
    return sorted(found, key=lambda blocked: -blocked.answers)
