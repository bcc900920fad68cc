"""What is on offer to a question, read from the warehouse, or from what the program brings if there is no warehouse yet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Protocol

import duckdb

from gpuledger.message import Message
from gpuledger.transform import exchange_rates
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import makers, market
from gpuledger.transform.buying.costs import ElectricityPrice, electricity_prices
from gpuledger.transform.buying.makers import Asked
from gpuledger.transform.buying.market import Card, Evidence, Hosted, Measurement, Node, OfferFilter, Pictures
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Market
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.queries import last_in
from gpuledger.transform.sizing.catalogue import served_names
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency

#: From so many cards of a condition on, the offers that a warehouse has are its market, and whatever they lack is rather not
#: to be had. A shop's page or a quote alone says nothing of what others published of other cards. Our choice.
_MARKET = 12


@dataclass(slots=True, kw_only=True)
class Stock(ABC):
    """What a question is answered from.

    `now` is the time from which ages of prices are counted, and `prices_as_of` that of the newest prices. `place` is the
    market whose prices these are, and `country` decides the outlet. `is_packaged` says that they are those that the program
    brings. `silent` are the sources that gave nothing for longer than usual, each with the time of its last success.

    What models need is kept for the next question, because several questions about one model need the same.
    """

    assumptions: Assumptions
    learned: Learned
    now: datetime
    prices_as_of: datetime
    place: Place
    country: str | None
    is_packaged: bool = False
    silent: Sequence[tuple[str, datetime]] = ()
    #: What a country's electricity costs, where it is in place of the assumption.
    electricity: ElectricityPrice | None = None
    needs: dict[tuple[object, ...], Need] = field(default_factory=dict, repr=False)

    @abstractmethod
    def offered(self, need: Need, asked: OfferFilter) -> Market:
        """What is on offer as `asked` in the market of the stock, with the figures of the cards that the user has."""

    @abstractmethod
    def shops(self) -> Sequence[str]:
        """Whose offers these are: sources, and the sellers in them."""

    def hosted(self, model: str) -> Sequence[Hosted]:
        """What hosted interfaces ask for the tokens of a model as it was asked for, as far as it is known."""
        return ()

    @abstractmethod
    def known(self) -> Sequence[Gpu]:
        """Every card, the smallest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where is bought: a market with its tax, and whether prices there include it. Money is shown in `currency`."""

    market: str
    currency: Currency = DOLLARS
    tax_name: str | None = None
    tax_rate: Decimal | None = None
    prices_include_tax: bool = False

    @property
    def machine_tax(self) -> Decimal:
        """The tax on a machine that nobody's price includes."""
        return self.tax_rate if self.prices_include_tax and self.tax_rate is not None else Decimal(0)

    @property
    def tax_missing(self) -> str | None:
        """The name of the tax that the prices do not include."""
        return None if self.prices_include_tax else self.tax_name or "tax"


class Taxed(Protocol):
    """A row of the markets with its tax, of the warehouse or of the program."""

    @property
    def market(self) -> str:
        """Its code."""

    @property
    def tax_name(self) -> str | None:
        """The tax on goods, None if there is none."""

    @property
    def tax_rate(self) -> Decimal | None:
        """Its rate as a share, None if not known."""

    @property
    def prices_include_tax(self) -> bool | None:
        """Whether prices there include it."""


def place_of(market: Taxed, currency: Currency = DOLLARS) -> Place:
    """A market as a place to buy."""
    return Place(
        market=market.market, currency=currency, tax_name=market.tax_name, tax_rate=market.tax_rate,
        prices_include_tax=bool(market.prices_include_tax),
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Warehouse(Stock):
    """The published tables (see Stock). What was read for a question is kept for the next one."""

    con: duckdb.DuckDBPyConnection
    _hosted: Mapping[str, Sequence[Hosted]] | None = field(default=None, repr=False)
    _markets: dict[OfferFilter, Market] = field(default_factory=dict, repr=False)
    _measured: dict[tuple[str, str], tuple[Mapping[str, Measurement], Mapping[str, Pictures]]] = field(
        default_factory=dict, repr=False
    )

    def offered(self, need: Need, asked: OfferFilter) -> Market:
        """See Stock."""
        if asked not in self._markets:
            self._markets[asked] = self._read(asked._replace(market=self.place.market))
        model = (need.model_id, need.precision)
        if model not in self._measured:
            self._measured[model] = (
                market.measurements(self.con, *model),
                {} if need.splits else market.pictures(self.con, *model),
            )
        measured, pictures = self._measured[model]
        return replace(self._markets[asked], measured=measured, pictures=pictures)

    def shops(self) -> Sequence[str]:
        """See Stock."""
        return market.shops(self.con)

    def _read(self, asked: OfferFilter) -> Market:
        cards, nodes = market.cards(self.con, asked), market.nodes(self.con, asked)
        # Who asks for the offers of some shops is not asking for others.
        rented = market.instances(self.con) if asked.shops is None else []
        if asked.shops is None:
            older = brought(asked, self.place, self.now.date())
            cards = [*with_older(cards, nodes, older, self.now)] if cards or nodes else older
        sold = [*(card.gpu_id for card in cards), *(node.gpu_id for node in nodes)]
        # The warehouse of an earlier program may lack a card of today.
        chips = {card.gpu_id: catalogue.by_id()[card.gpu_id] for card in cards if card.gpu_id in catalogue.by_id()}
        chips |= market.chips(self.con, [*sold, *asked.owned, *(instance.gpu_id or "" for instance in rented)])
        machines, unpriced = [], {}
        if asked.shops is None:
            unpriced = {name: why for name, why in makers.left_out().items() if name not in sold}
            machines = market.machines(self.con, (*sold, *unpriced))
            machines += [catalogue.by_id()[name] for name in unpriced]
        return Market(
            cards=cards, instances=rented, measured={}, chips=chips, nodes=nodes, machines=machines, unpriced=unpriced
        )

    def hosted(self, model: str) -> Sequence[Hosted]:
        """See Stock."""
        if self._hosted is None:
            self._hosted = market.hosted(self.con)
        named, tagged = (
            [one for weights in sorted(names) for one in self._hosted.get(weights, ())] for names in served_names(model)
        )
        return named or tagged

    def known(self) -> Sequence[Gpu]:
        """See Stock."""
        return market.known(self.con)


def warehouse(
    con: duckdb.DuckDBPyConnection, assumptions: Assumptions, place: Place, country: str | None, clock: datetime
) -> Warehouse:
    """The stock of an open warehouse. Electricity costs what it costs in the country, unless the assumptions say otherwise.

    Raises LookupError for a `country` without an electricity price.
    """
    is_usual = assumptions.electricity_usd_per_kwh == Assumptions().electricity_usd_per_kwh
    if at := country or (place.market if is_usual and place.market.upper() in electricity_prices() else None):
        assumptions = replace(assumptions, electricity_usd_per_kwh=electricity_usd(at, market.rates(con)))
    last = last_in(con)
    prices_as_of = last.prices_as_of if last else clock
    # The nights of the sample are long past.
    now = prices_as_of if last and prices_as_of == last.sample_as_of else clock
    return Warehouse(
        con=con, assumptions=assumptions, learned=market.learned(con), now=now, prices_as_of=prices_as_of, place=place,
        country=country or place.market, silent=market.silent(con, now),
        electricity=electricity_prices()[at.upper()] if at else None,
    )  # fmt: skip


def currency(code: str) -> Currency:
    """A currency at the rate that the program brings. Raises LookupError, with the known currencies, for another one."""
    day, rates = exchange_rates.rates()
    if code == "USD":
        return DOLLARS
    if code not in rates:
        raise LookupError(Message(
            "no exchange rate for {currency} comes with the program; known are {known:, }", currency=code,
            known=tuple(sorted(rates)),
        ))  # fmt: skip
    return Currency(code, rates[code], day)


def electricity_usd(country: str, rates: Mapping[str, float]) -> Decimal:
    """Dollars for a kilowatt-hour, at the `rates` of a warehouse, else of the program.

    Raises LookupError, with the known countries, for an unknown country.
    """
    prices = electricity_prices()
    if country.upper() not in prices:
        raise LookupError(Message(
            "no electricity price is known for {country!r}; known are {known:, }", country=country,
            known=tuple(sorted(prices)),
        ))  # fmt: skip
    price = prices[country.upper()]
    return round(price.price * Decimal(str(rates.get(price.currency) or currency(price.currency).usd)), 6)


@dataclass(slots=True, kw_only=True)
class Packaged(Stock):
    """The stock of a program without a warehouse."""

    def offered(self, need: Need, asked: OfferFilter) -> Market:
        """See stock.Stock. The price of a card is that of the street, else what its maker asks, with the market's tax."""
        cards, known = brought(asked, self.place, self.now.date()), catalogue.by_id()
        priced = {card.gpu_id for card in cards}
        return Market(
            cards=cards, instances=[], measured={},
            chips={name: known[name] for name in (*(card.gpu_id for card in cards), *asked.owned)},
            machines=[known[name] for name in makers.left_out() if name not in priced], unpriced=makers.left_out(),
        )  # fmt: skip

    def shops(self) -> Sequence[str]:
        """See stock.Stock. No shop was read yet."""
        return ()

    def known(self) -> Sequence[Gpu]:
        """See stock.Stock."""
        cards = [g for g in catalogue.gpus() if g.memory_gb and g.segment in ("consumer", "workstation", "data_center")]
        return sorted(cards, key=lambda gpu: (gpu.memory_gb or 0, -(gpu.released_on or date.min).toordinal()))


def packaged(assumptions: Assumptions, place: Place, country: str | None, clock: datetime) -> Packaged:
    """The stock of the program alone. Raises LookupError for a `country` without an electricity price."""
    asked = country
    if asked is None and place.market.upper() in electricity_prices():
        country = place.market
    if assumptions.electricity_usd_per_kwh != Assumptions().electricity_usd_per_kwh:
        country = None
    if country is not None:
        assumptions = replace(assumptions, electricity_usd_per_kwh=electricity_usd(country, {}))
    prices = makers.known(place.market, clock.date())
    newest = max(price.day for price in [one for one in prices if one.kind == makers.STREET_PRICE] or prices)
    return Packaged(
        assumptions=assumptions, learned=NOTHING_LEARNED, now=clock, prices_as_of=datetime.combine(newest, time(), UTC),
        place=place, country=asked or place.market, is_packaged=True,
        electricity=electricity_prices()[country.upper()] if country else None,
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class OneCard(Stock):
    """A stock in which nothing is on offer: what runs on cards `gpu` that are there, with what `of` knows of their speed."""

    gpu: Gpu
    of: Stock

    def offered(self, need: Need, asked: OfferFilter) -> Market:
        """See stock.Stock."""
        known = self.of.offered(need, OfferFilter((), shops=()))
        chips = {self.gpu.gpu_id: self.gpu}
        return Market(cards=(), instances=(), measured=known.measured, pictures=known.pictures, chips=chips)

    def shops(self) -> Sequence[str]:
        """See stock.Stock."""
        return ()

    def known(self) -> Sequence[Gpu]:
        """See stock.Stock."""
        return (self.gpu,)


def one_card(gpu: Gpu, of: Stock) -> OneCard:
    """The stock of who has cards `gpu`, at the place and with the assumptions of another stock."""
    return OneCard(
        gpu=gpu, of=of, assumptions=of.assumptions, learned=of.learned, now=of.now, prices_as_of=of.prices_as_of,
        place=of.place, country=of.country, is_packaged=of.is_packaged,
    )  # fmt: skip


def with_older(cards: Sequence[Card], nodes: Sequence[Node], older: Sequence[Card], now: datetime) -> Iterator[Card]:
    """The offers of shops, and behind them what an empty folder knows of cards that no shop sells in any number, or whose
    price somebody saw later than the shop. If the offers are a market, the others come behind all of it.
    """
    seen: dict[tuple[str, bool], datetime] = {}
    offered: list[Card | Node] = [*nodes, *cards]
    for one in offered:
        if one.evidence is not None and one.evidence.is_of_any_number:
            seen[one.gpu_id, one.condition == "new"] = one.evidence.seen_at if one.evidence.is_stale else now
    counts, added = Counter(is_new for _, is_new in seen), dict[tuple[str, bool], Card]()
    for card in older:
        key, evidence = (card.gpu_id, card.condition == "new"), card.evidence
        if evidence is None or evidence.seen_at > now:
            continue
        if key not in seen:
            is_behind = evidence.mark == makers.LAUNCH_PRICE or counts[key[1]] >= _MARKET or evidence.is_behind
            added[key] = card._replace(evidence=evidence._replace(is_behind=is_behind))
        elif not evidence.is_stale and evidence.seen_at > seen[key]:
            added[key] = card
    for card in cards:
        is_stale = card.evidence is not None and card.evidence.is_stale
        if not (is_stale and (card.gpu_id, card.condition == "new") in added):
            yield card
    yield from added.values()


def brought(asked: OfferFilter, place: Place, today: date) -> list[Card]:
    """What the program knows of prices in `place`: street prices, and what makers ask, with its tax."""
    prices = makers.known(place.market, today)
    is_street_known = any(price.kind == makers.STREET_PRICE for price in prices)
    return [
        _card(price, place, today, is_behind=is_street_known and price.is_old(today))
        for price in prices
        if price.condition in asked.conditions or price.gpu.gpu_id in asked.owned
    ]


def _card(price: Asked, place: Place, today: date, *, is_behind: bool) -> Card:
    gpu, day = price.gpu, datetime.combine(price.day, time(), UTC)
    with_tax = 1 + place.machine_tax if price.market is None else 1
    return Card(
        gpu_id=gpu.gpu_id, gpu=gpu.display_name, condition=price.condition, price_usd=price.usd * with_tax,
        memory_gb=gpu.memory_gb, bandwidth_gb_s=gpu.memory_bandwidth_gb_s, tdp_w=gpu.tdp_w, gpus_on_board=gpu.gpus_on_board,
        value_kept=None, history_years=None,
        evidence=Evidence(
            price.source or price.kind, day, day, price.page, "", price.mark(today), price.market, is_behind=is_behind
        ),
    )  # fmt: skip
