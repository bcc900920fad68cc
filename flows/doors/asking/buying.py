"""A question about buying: its answer, from the published warehouse, or from the program alone if there is none yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import click

from gpuledger.flows.doors.asking.assume import with_texts
from gpuledger.flows.doors.showing import chosen
from gpuledger.flows.doors.showing.money import Money, money_in
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.settings.settings import texts
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use, say
from gpuledger.message import Message
from gpuledger.transform.answers import markets
from gpuledger.transform.assumptions import ImpossibleAssumption
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.assumptions import Assumptions
    from gpuledger.transform.buying.answer import Answer
    from gpuledger.transform.buying.question import Question
    from gpuledger.transform.buying.stock import Stock
    from gpuledger.transform.report.questions import Kept


def ask(data: DataDir, offered: Stock, question: Question) -> Answer:
    """The answer to a question whose own cards have the names that people write. A usage error if it makes no sense."""
    from gpuledger.transform.buying.answer import ImpossibleQuestion
    from gpuledger.transform.buying.answer import ask as answer
    from gpuledger.transform.sizing.errors import SizingError

    there = _cards(data, question.owned) if question.owned else ()
    with as_wrong_use(SizingError, ImpossibleQuestion, ImpossibleAssumption):
        return answer(replace(question, owned=there), offered, data.root)


def keep(name: str, question: Question, data: DataDir) -> tuple[Kept, str]:
    """Keep a question that was answered, for each night to come; returns it with what is said of it. A usage error for a
    name or a model that cannot be kept.
    """
    from gpuledger.transform.buying.question import given
    from gpuledger.transform.report.questions import QUESTIONS, Kept
    from gpuledger.transform.sizing.named import is_path

    if is_path(question.model):
        raise click.UsageError(
            gettext("--save keeps the name of a model and no path: `gpuledger model add PATH` gives it a name")
        )
    with as_wrong_use(ValueError):
        kept = Kept(
            name=" ".join(name.split()), asked=given(question), market=chosen.market(),
            currency=chosen.currency() or "USD", kept_on=utc_now().date(),
        )  # fmt: skip
    replaced = QUESTIONS.put(data.root, kept)
    message = gettext("kept as {name}, in place of the one before") if replaced else gettext("kept as {name}")
    return kept, message.format(name=kept.name)


def _cards(data: DataDir, names: Sequence[str]) -> tuple[str, ...]:
    """The ids of cards as people write them, `2x rtx 3090` twice."""
    from gpuledger.flows.doors.asking import card_names

    counted = (card_names.count_and_name(data, text) for text in names)
    return tuple(card_names.gpu_of(data, name).gpu_id for count, name in counted for _ in range(count))


class Where(NamedTuple):
    """The market (None: the home market), the currency (None: dollars) and the country of an answer."""

    market: str | None
    currency: str | None
    country: str | None


@contextmanager
def stock(data: DataDir, where: Where, *, clock: datetime, packaged: bool) -> Iterator[Stock]:
    """The stock of the warehouse in `data`, or if it is `packaged` that of the program, of a market and with money in a
    currency. A usage error for a market, a currency or a country that is not known. Raises NoWarehouse.
    """
    from gpuledger.transform.assumptions import Assumptions
    from gpuledger.transform.buying import market as tables
    from gpuledger.transform.buying import stock as stocks
    from gpuledger.warehouse.read import reader

    set_here = texts(settings_module.load({}).assumptions_given)
    if packaged:
        yield _packaged(with_texts(Assumptions(), set_here), where, clock)
        return
    with reader(data) as con, as_wrong_use(LookupError):
        base = with_texts(tables.assumptions(con), set_here)
        place = stocks.place_of(markets.market(data, where.market), money_in(data, where.currency))
        yield stocks.warehouse(con, base, place, where.country, clock)


def _packaged(base: Assumptions, where: Where, clock: datetime) -> Stock:
    from gpuledger.transform.buying import stock
    from gpuledger.transform.buying.stock import Place, place_of
    from gpuledger.transform.seeds.markets import markets as seeded

    name = where.market or settings_module.load({}).market or "us"
    known = {row.market: row for row in seeded(clock.date())}
    if name != markets.ALL and name not in known:
        raise click.UsageError(
            wrong_use.unknown(say(Message("no market is called {market}", market=name)), name, [*known, markets.ALL])
        )
    row = known.get(name)
    with as_wrong_use(LookupError):
        shown = stock.currency(where.currency or "USD")
        money = Money(shown.code, shown.usd, shown.rate_day)
        place = Place(market=name, currency=money) if row is None else place_of(row, money)
        return stock.packaged(base, place, where.country, clock)
