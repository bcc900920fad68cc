"""What a question about buying is answered from: the published warehouse, or the program alone if there is none yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from gpuledger.extract.message import Message
from gpuledger.flows.asking.assume import with_texts
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.settings.assumptions import texts
from gpuledger.flows.showing.money import Money
from gpuledger.flows.words import naming
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.transform.answers import markets, rates
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.answers.markets import Market
    from gpuledger.transform.assumptions import Assumptions
    from gpuledger.transform.buying.stock import Place, Stock
    from gpuledger.transform.seeds.markets import Market as Seeded


@contextmanager
def stock(
    data: DataDir, market: str | None, currency: str | None, country: str | None, *, clock: datetime, may_be_wheel: bool
) -> Iterator[Stock]:
    """The stock of the warehouse in `data`, of `market` (None: the home market) and with money in `currency`.

    Without a warehouse it is the stock of the program if it `may_be_wheel`; otherwise raises NoWarehouse. A usage error for
    a market, a currency or a country that is not known.
    """
    from gpuledger.transform.assumptions import Assumptions
    from gpuledger.transform.buying import market as tables
    from gpuledger.transform.buying import stock as stocks
    from gpuledger.warehouse.read import reader

    set_here = texts(settings_module.load({}).assumptions_given)
    if may_be_wheel and not data.published.exists():
        yield _wheel(with_texts(Assumptions(), set_here), market, currency, country, clock)
        return
    with reader(data) as con:
        base = with_texts(tables.assumptions(con), set_here)
        try:
            yield stocks.warehouse(
                con, base, _place(markets.market(data, market), _money(data, currency)), country, clock
            )
        except LookupError as error:
            raise click.UsageError(say(error)) from None


def _place(market: Market | Seeded, money: Money) -> Place:
    from gpuledger.transform.buying.stock import Place

    return Place(
        market=market.market, currency=money, tax_name=market.tax_name, tax_rate=market.tax_rate,
        prices_include_tax=bool(market.prices_include_tax),
    )  # fmt: skip


def _money(data: DataDir, code: str | None) -> Money:
    if code in (None, "USD"):
        return Money("USD", 1.0, None)
    assert code is not None
    rate = rates.rate(data, code, None)
    if rate is None:
        message = gettext("there is no exchange rate for {currency}").format(currency=code)
        raise click.UsageError(naming.unknown(message, code, rates.known(data, None)))
    return Money(code, rate.usd, rate.day)


def _wheel(base: Assumptions, market: str | None, currency: str | None, country: str | None, clock: datetime) -> Stock:
    from gpuledger.transform.buying import wheel
    from gpuledger.transform.buying.stock import Place
    from gpuledger.transform.seeds.markets import markets as seeded

    name = market or settings_module.load({}).market or "us"
    known = {row.market: row for row in seeded(clock.date())}
    if name != markets.ALL and name not in known:
        raise click.UsageError(
            naming.unknown(say(Message("headline.no_market", market=name)), name, [*known, markets.ALL])
        )
    row = known.get(name)
    try:
        shown = wheel.currency(currency or "USD")
        money = Money(shown.code, shown.usd, shown.rate_day)
        place = Place(market=name, currency=money) if row is None else _place(row, money)
        return wheel.wheel(base, place, country, clock)
    except LookupError as error:
        raise click.UsageError(say(error)) from None
