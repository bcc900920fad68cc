"""The first sentences of an answer: what to buy where for how much, how fast it is, and why not something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from gpuledger.extract.message import Message
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.advice import without_prices
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.hosts import estimated_on
from gpuledger.transform.buying.options import OWNED, Option
from gpuledger.transform.buying.rows import machine_usd, mark_of, supply_of
from gpuledger.transform.buying.wheel import LAUNCH_PRICE


class Headline(NamedTuple):
    """What the first sentences say beside the first option.

    `runner_up` is another way to run it, `why_not` what rules it out, empty if it is an answer that costs more over the
    horizon. `rental` is the cheapest rental that is at least as fast, and `rent_below` the hours a month below which it is
    cheaper, None if it is cheaper at any number of hours.
    """

    option: Option
    runner_up: Option | None
    why_not: tuple[Message, ...]
    rental: Option | None
    rent_below: Decimal | None


def headline(answer: Answer) -> Headline | None:
    """The first answer and what a buyer asks about it, None if there is no answer with a price."""
    ranked = [option for option, _ in answer.ranked(0) if option.total_usd is not None]
    if not ranked:
        return None
    first = ranked[0]
    place = list(answer.options).index(first)
    # The next cheaper option is what a reader would have bought instead. Without one, it is the next answer.
    cheaper = next((option for option in reversed(answer.options[:place]) if _is_close(option, first)), None)
    other = next((option for option in ranked[1:] if option.gpu_id != first.gpu_id), None)
    rental = None if first.own is None else _like_with_like(first, answer)
    rent_below = None
    if rental is not None and first.own is not None and rental.price_usd is not None:
        hour = costs.rent_per_used_hour(rental.price_usd, rental.way, answer.assumptions)
        hours = costs.break_even_hours(first.own, hour)
        rent_below = None if hours is None else hours / (12 * answer.assumptions.horizon_years)
    return Headline(first, cheaper or other, cheaper.against if cheaper else (), rental, rent_below)


def _is_close(option: Option, first: Option) -> bool:
    """Whether a cheaper option holds the model, and only one reason speaks against it."""
    return len(option.against) == 1 and option.fits and (option.total_usd or 0) <= (first.total_usd or 0)


def _like_with_like(first: Option, answer: Answer) -> Option | None:
    """The cheapest rental by the hour that holds the model and serves each user at least as fast."""
    least = 0.0 if first.speed is None else first.speed.each
    as_fast = [
        option
        for option in answer.rentals
        if option.way == "on_demand" and option.evidence is not None and not option.evidence.is_stale
        and (first.speed is None or (option.speed is not None and option.speed.each >= least))
    ]  # fmt: skip
    return min(as_fast, key=lambda option: option.price_usd or Decimal(0), default=None)


def sentences(answer: Answer) -> list[Message]:
    """The sentences, with money in the currency of the answer. None if no answer has a price."""
    found = headline(answer)
    return [] if found is None else list(_Said(found, answer).all())


def named(option: Option) -> Message | str:
    """`2 × NVIDIA GeForce RTX 3090 (used)`."""
    if option.condition in (None, "new", OWNED):
        return option.what
    return Message("buy.in_way", what=option.what, way=Message(f"word.{option.condition}"))


def horizon(answer: Answer) -> Message:
    """`3 years`, `14 days`."""
    years = answer.assumptions.horizon_years
    if years < 1:
        return Message("headline.days", count=round(years * costs.DAYS_A_YEAR))
    return Message("headline.years", count=f"{years.normalize():f}")


class _Said(NamedTuple):
    """A headline as sentences."""

    found: Headline
    answer: Answer

    def all(self) -> Iterator[Message]:
        yield self._what_to_do()
        yield from self._speed()
        yield self._in_all()
        yield from self._instead()
        yield from self._machine()
        yield from self._marks()

    def _paid(self, usd: Decimal | None) -> str:
        money = self.answer.stock.currency
        return f"{money.text(money.of(usd or 0))} {money.code}"

    def _what_to_do(self) -> Message:
        option = self.found.option
        evidence, price, outlay = option.evidence, self._paid(option.price_usd), self._paid(option.outlay_usd)
        if option.way != "buy":
            return Message("headline.rent", what=option.what, way=Message(f"word.{option.way}"), price=price)
        if evidence is None:
            return Message("headline.use_own", what=option.what, outlay=outlay)
        where = (
            Message("headline.at_launch", day=f"{evidence.price_since:%Y-%m-%d}")
            if evidence.source == LAUNCH_PRICE
            else Message("headline.at_shop", shop=evidence.source)
        )
        return Message(
            "headline.buy_with_machine" if machine_usd(option, self.answer) else "headline.buy", what=named(option),
            where=where, price=price, outlay=outlay, missing=self._missing(),
        )  # fmt: skip

    def _missing(self) -> Message:
        """What the amount of day one does not include."""
        tax = self.answer.stock.tax_missing
        if tax and not self.answer.assumptions.sales_tax_share:
            return Message("headline.tax_missing", tax=Message("headline.sales_tax") if tax == "sales tax" else tax)
        return Message("headline.shipping_missing")

    def _speed(self) -> Iterator[Message]:
        option, users = self.found.option, self.answer.need.users
        if option.pictures is not None:
            yield Message("headline.pictures", rate=f"{option.pictures.per_s * option.gpu_count * 60:.3g}")
        if option.speed is None:
            return
        rate, each = option.speed.rate, option.speed.each
        if rate.basis == "measured":
            yield Message("headline.measured", speed=f"{each:.3g}")
            return
        share = each / option.speed.expected if option.speed.expected else 1.0
        low, high = (f"{(figure or 0) * share:.3g}" for figure in (rate.low, rate.high))
        whom = Message("headline.you") if users == 1 else Message("headline.each_of", users=users)
        basis = Message(f"headline.basis_{rate.basis}")
        yield Message("headline.speed", speed=f"{each:.3g}", whom=whom, low=low, high=high, basis=basis)

    def _in_all(self) -> Message:
        option, time = self.found.option, horizon(self.answer)
        if option.own is None:
            hours = f"{self.answer.assumptions.hours_per_day.normalize():f}"
            return Message("headline.rent_in_all", time=time, total=self._paid(option.total_usd), hours=hours)
        own = option.own
        return Message(
            "headline.in_all", time=time, total=self._paid(own.total), running=self._paid(own.running),
            kept=self._paid(own.kept),
        )  # fmt: skip

    def _instead(self) -> Iterator[Message]:
        found = self.found
        option, other, rental = found.option, found.runner_up, found.rental
        if other is not None and found.why_not:
            yield Message("headline.not_because", what=named(other), why=found.why_not)
        elif other is not None:
            more = (other.total_usd or Decimal(0)) - (option.total_usd or Decimal(0))
            yield Message("headline.not_dearer", what=named(other), more=self._paid(more))
        listed = [one for one, _ in self.answer.ranked(0) if one.speed is not None and one.price_usd is not None]
        fastest = max(listed, key=lambda one: one.speed.each if one.speed else 0, default=option)
        if fastest is not option and fastest.speed is not None:
            speed = f"{fastest.speed.each:.3g}"
            yield Message("headline.fastest", what=named(fastest), speed=speed, outlay=self._paid(fastest.outlay_usd))
        if rental is not None:
            what = Message("headline.rental", what=rental.what, price=self._paid(rental.price_usd))
            if found.rent_below is None:
                yield Message("headline.rent_always", rental=what)
            elif found.rent_below > 0:
                yield Message("headline.rent_below", hours=f"{found.rent_below:,.0f}", rental=what)

    def _machine(self) -> Iterator[Message]:
        """What the cards go into, and how much of its price is our estimate."""
        option, answer, money = self.found.option, self.answer, self.answer.stock.currency
        host, supply = option.host, supply_of(option)
        if host is None or supply is None or option.power is None:
            return
        needs = Message(
            "headline.needs_airflow" if host.airflow else "headline.needs", boards=option.power.boards,
            watts=f"{supply:,}",
        )  # fmt: skip
        machine = machine_usd(option, answer)
        if machine is None:
            yield Message("headline.your_machine", needs=needs)
            return
        factor = 1 + answer.limits.machine_tax
        low, high = (money.text(money.of((usd or 0) * factor)) for usd in (host.low_usd, host.high_usd))
        yield Message(
            "headline.machine", kind=Message(f"headline.host_{re.sub(r'[ -]', '_', host.name)}"), needs=needs,
            price=self._paid(machine), low=low, high=high, day=f"{estimated_on():%Y-%m}",
        )  # fmt: skip

    def _marks(self) -> Iterator[Message]:
        option = self.found.option
        mark = mark_of(option, self.answer)
        if "stale" in mark and option.evidence is not None:
            yield Message("headline.stale", shop=option.evidence.source)
        if "invented" in mark:
            yield Message("headline.invented")
        if not self.answer.stock.from_wheel and not _is_sold(self.answer.options):
            yield Message("headline.no_shop", market=self.answer.stock.market)
        if self.answer.stock.from_wheel:
            yield Message("headline.launch_prices")


def _is_sold(options: Sequence[Option]) -> bool:
    """Whether something has the price of a shop, also if it is no answer."""
    return any(option.price_usd is not None and option.way == "buy" for option in options)


def why_nothing(answer: Answer) -> list[Message]:
    """Why no option is an answer, the argument that rules out most, and what would give an answer."""
    need = answer.need
    why = [Message("buy.nothing_runs", model=need.model_id, precision=need.precision)]
    if not answer.stock.from_wheel and not _is_sold(answer.options):
        # After weeks without a night no price counts in any market.
        too_old = list(without_prices(answer.options))
        return [*why, *(too_old or [Message("headline.no_shop", market=answer.stock.market)])]
    money = answer.stock.currency
    for number, (argument, count, first) in enumerate(answer.blocked):
        price = f"{money.text(money.of(first.outlay_usd or first.price_usd or 0))} {money.code}"
        if argument == "--host own":
            why.append(Message("headline.with_own_host", count=count, what=named(first), price=price))
        elif number == 0 or argument.startswith("--condition"):
            why.append(Message("headline.without", argument=argument, count=count, what=named(first), price=price))
    return [*why, *answer.way_outs]
