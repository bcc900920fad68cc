"""The first sentences of an answer: what to buy where for how much, how fast it is, and why not something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from gpuledger.extract.source import seller
from gpuledger.message import Label, Message, Sum
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.advice import in_condition, named, offered_in_too_few, without_prices
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.choosing.comfort import OLD_PRICE, gravity
from gpuledger.transform.buying.choosing.picks import Picks
from gpuledger.transform.buying.hosts import estimated_on, has_no_fan
from gpuledger.transform.buying.makers import LAUNCH_PRICE, LIST_PRICE, STREET_PRICE, newest_street_price
from gpuledger.transform.buying.market import ANY_SHOP, Evidence, Hosted
from gpuledger.transform.buying.need import WAITING
from gpuledger.transform.buying.options import OWNED, Option, busy_hours
from gpuledger.transform.buying.rows import machine_usd, mark_of, memory_gb, supply_of
from gpuledger.transform.sizing.diffusion import DiffusionModel
from gpuledger.transform.sizing.named import limit_of_licence
from gpuledger.transform.speed.pieces import HEARD
from gpuledger.transform.speed.rules import Rate

_NO_SHOP = "No shop of {market} has a price that counts today, so nothing can be bought there: ask another --market."
PRESUMED = "What a page of {shop} does not call used counts as new, and a marketplace's offers count for nothing."
#: Times the maker's price from which what another market asks is said.
_FAR_MORE = Decimal("1.2")
#: Doublings of what is comfortable at which something cheaper is not named (see comfort.gravity): own choice.
_VAIN = 2
#: Seconds up to which a time is shown in seconds.
_SHORT = 900


class Headline(NamedTuple):
    """What the first sentences say beside the picks.

    `cheaper` is the cheapest way that runs it for less than all picks, though less comfortably. `rental` is the cheapest
    rental that is at least as fast as the first pick, and `rent_below` the hours a month below which it is cheaper, None if
    it is cheaper at any number of hours. `api` is the cheapest interface that hosts the model, for tokens in the proportion
    of the question, and `api_below` the tokens a month below which it is cheaper, None if it is cheaper than any number that
    the cards can write.
    """

    option: Option
    cheaper: Option | None
    rental: Option | None
    rent_below: Decimal | None
    api: Hosted | None
    api_below: Decimal | None


def headline(answer: Answer) -> Headline | None:
    """The first pick and what a buyer asks about it, None if there is no answer with a price."""
    picks = answer.picks
    if picks is None or (answer.need.is_by_rate and not picks.first.is_known):
        return None
    first = picks.first
    cheaper = cheapest_below(picks, ((gravity(one), one) for one in answer.ranking))
    # Of rented cards nothing is known about speech.
    rental = None if first.own is None or first.heard is not None else _like_with_like(first, answer)
    rent_below = None
    if rental is not None and first.own is not None and rental.price_usd is not None:
        hour = costs.rent_per_used_hour(rental.price_usd, rental.way, answer.assumptions)
        hours = costs.break_even_hours(first.own, hour)
        rent_below = None if hours is None else hours / (12 * answer.assumptions.horizon_years)
    return Headline(first, cheaper, rental, rent_below, *_interface(first, answer))


def cheapest_below(picks: Picks, answers: Iterable[tuple[tuple[bool, bool, int, int, int], Option]]) -> Option | None:
    """What is bought for less than all picks and runs: that against which least speaks (its `gravity` comes with it), and of
    equals the cheapest. None if all such take more than four times as long as is comfortable: nobody buys that.
    """
    least = min(pick.outlay_usd or Decimal(0) for pick in picks.all())
    bought = (
        (gravity[:3], one.outlay_usd, one)
        for gravity, one in answers
        if one.way == "buy" and one.condition != OWNED and one.outlay_usd is not None and one.outlay_usd < least
        and gravity[1] < _VAIN
    )  # fmt: skip
    cheapest = min(bought, key=lambda one: one[:2], default=None)
    return cheapest and cheapest[2]


class RentCurve(NamedTuple):
    """What owning the first answer and renting instead cost a month, in US dollars, by the hours of use: two straight lines.

    Owning goes from `own_idle` without use to `own_always`, renting from nothing to `rent_always`, both at `HOURS_A_MONTH`.
    They cross at `below` hours, None if renting is cheaper at any number.
    """

    rental: str
    own_idle: Decimal
    own_always: Decimal
    rent_always: Decimal
    below: Decimal | None


HOURS_A_MONTH = Decimal(24 * costs.DAYS_A_YEAR) / 12


def rent_curve(answer: Answer) -> RentCurve | None:
    """The lines behind the sentence about renting, None if there is none."""
    found = headline(answer)
    if found is None or found.rental is None or found.rental.price_usd is None or found.option.own is None:
        return None
    own, rental = found.option.own, found.rental
    idle = (own.purchase + own.host + own.other - own.resale) / (12 * answer.assumptions.horizon_years)
    hour = costs.rent_per_used_hour(found.rental.price_usd, rental.way, answer.assumptions)
    always = idle + own.running_per_hour * HOURS_A_MONTH
    return RentCurve(rental.what, idle, always, hour * HOURS_A_MONTH, found.rent_below)


def _interface(first: Option, answer: Answer) -> tuple[Hosted | None, Decimal | None]:
    """The cheapest interface that hosts the model, and the tokens a month, read and written, below which it is cheaper.

    An interface is a rental whose hour costs what the tokens of an hour cost, so the hours that break even give the tokens.
    """
    own, speed, job = first.own, first.speed, answer.need.job
    services = ("standard", "batch") if answer.question.use == "batch" else ("standard",)
    hosted = [one for one in answer.hosted if one.service in services]
    if not hosted or own is None or speed is None or job is None:
        return None, None
    asked = Requested(*answer.need.request)
    each = {one: asked.usd(one) / answer.need.answer_tokens for one in hosted}
    # What others list may be gone, so it stands where no provider's own list has the model, or none has a batch.
    api = min(each, key=lambda one: (one.listed_by is not None and one.service == "standard", each[one]))
    written = Decimal(str(speed.serving.all_tokens_per_s if speed.serving else speed.expected)) * costs.SECONDS_AN_HOUR
    hours, months = costs.break_even_hours(own, each[api] * written), 12 * answer.assumptions.horizon_years
    if hours is None or hours > 24 * costs.DAYS_A_YEAR * answer.assumptions.horizon_years:
        return api, None
    return api, hours * written * asked.tokens / answer.need.answer_tokens / months


class Requested(NamedTuple):
    """The tokens of one request to an interface (see Need.request)."""

    read: int
    again: int
    written: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.read + self.again + self.written

    def usd(self, api: Hosted) -> Decimal:
        """What the request costs."""
        prompt = self.read + self.again
        parts = ((self.read, "input"), (self.again, "cache read"), (self.written, "output"))
        return sum((count * api.usd(kind, prompt) for count, kind in parts), Decimal(0)) / 1_000_000


def _like_with_like(first: Option, answer: Answer) -> Option | None:
    """The rental by the hour that holds the model and serves each user at least as fast: the cheapest of as many of the same
    GPUs, as a node against a node, else the cheapest of all.
    """
    as_fast = [
        option
        for option in answer.rentals
        if option.way == "on_demand" and option.evidence is not None and not option.evidence.is_stale
        and option.each_a_second >= first.each_a_second
    ]  # fmt: skip

    def unlike_and_price(option: Option) -> tuple[bool, Decimal]:
        is_like = option.gpu_id is not None and (option.gpu_id, option.gpu_count) == (first.gpu_id, first.gpu_count)
        return not is_like, option.price_usd or Decimal(0)

    return min(as_fast, key=unlike_and_price, default=None)


def paragraphs(answer: Answer) -> list[list[Message]]:
    """The sentences, each pick and each way beside them in a paragraph of its own.

    None if no answer has a price, and no advice if nobody knows how fast pictures are made.
    """
    found = headline(answer)
    if found is not None:
        said = _Said(found, answer)
        limit = filter(None, [limit_of_licence(answer.need.model_id)])
        parts = (said.first(), said.for_less(), said.other(), said.cheaper(), said.rented(), said.marks(), limit)
        return [part for part in map(list, parts) if part]
    is_unknown = answer.need.is_by_rate and any(not option.is_known for option, _ in answer.ranked(1))
    return [[Message(
        "Nobody knows how fast any of these makes anything with {model}, so none is recommended. They hold it:",
        model=answer.need.model_id,
    )]] if is_unknown else []  # fmt: skip


def prices_from(answer: Answer) -> tuple[datetime, datetime]:
    """The times of the oldest and the newest price of the picks if the program brings them, else twice that of the night."""
    night, picks = answer.stock.prices_as_of, answer.picks or ()
    days = [one.evidence.price_since for one in picks if one and one.evidence and answer.stock.is_packaged]
    return min(days, default=night), max(days, default=night)


def speed_of(option: Option, answer: Answer) -> list[Message]:
    """How fast an option of the answer is, as its first sentences say it of the first pick."""
    return [*_Said(Headline(option, None, None, None, None, None), answer).speed()]


def sentences(answer: Answer) -> list[Message]:
    """The sentences of all paragraphs."""
    return [sentence for paragraph in paragraphs(answer) for sentence in paragraph]


def _bought(option: Option, answer: Answer) -> Message | str:
    """What is bought: an option without what is there already. `1 more NVIDIA GeForce RTX 3090 (used)`."""
    there = dict(answer.limits.owned).get(option.gpu_id or "", 0)
    if not there or option.bought is None:
        return named(option)
    return Message("{count} more {what}", count=option.bought.boards - there, what=in_condition(option.gpu, option))


def made_in(model: DiffusionModel, rate: Rate, steps: int | None = None) -> Message:
    """How long a picture or a clip takes on one GPU. Each makes its own."""
    clip = model.clip
    if clip is None:
        made = Message("A picture of {width} × {height}", width=model.side, height=model.height or model.side)
    else:
        made = Message(
            "A clip of {frames} frames, {width} × {height},", frames=clip.frames, width=clip.width, height=clip.height
        )
    time, low, high = (_time(1 / per_s) if per_s else "?" for per_s in (rate.expected, rate.high, rate.low))
    return Message(
        "{made} with {steps} steps takes {time} ({low} to {high}, {basis}).", made=made, steps=steps or model.steps,
        time=time, low=low, high=high, basis=_basis(rate),
    )  # fmt: skip


def _basis(rate: Rate) -> Message | Label:
    """What the speed rests on."""
    return Message("a share of the bound, nobody measured it") if rate.basis == "bound" else Label(rate.basis)


def _time(seconds: float) -> Message:
    if seconds < _SHORT:
        return Message("{seconds:,.3g} s", seconds=seconds)
    return Message("{minutes:,.0f} min", minutes=seconds / 60)


def _speed(each: float) -> str:
    """A speed to three digits: `6.48`, `1,760`."""
    return f"{float(f'{each:.3g}'):,.0f}" if each >= 1000 else f"{each:.3g}"


def _where(evidence: Evidence | None) -> Message:
    """Who asks the price: `at Newegg`, `at the launch price of 2025-04-16,`, `at the street price of 2026-10, GPU Poet,`."""
    if evidence is None:
        return Message("that you have,")
    if _is_of_street(evidence):
        return Message(
            "at the street price of {month}, {source},", month=f"{evidence.price_since:%Y-%m}", source=evidence.source
        )
    if _is_of_maker(evidence):
        return Message(
            "at the launch price of {day}," if evidence.source == LAUNCH_PRICE
            else "at the list price of its maker since {day},",
            day=f"{evidence.price_since:%Y-%m-%d}",
        )  # fmt: skip
    if evidence.delivery:
        return Message("at {shop} (delivery: {delivery})", shop=evidence.shop, delivery=evidence.delivery)
    is_invented = evidence.mark is not None and "invented" in evidence.mark
    return Message("at {shop}, an invented price of the sample," if is_invented else "at {shop}", shop=evidence.shop)


def _is_of_street(evidence: Evidence) -> bool:
    """Whether it is a street price that the program brings."""
    return evidence.mark is not None and STREET_PRICE in evidence.mark


def _is_of_maker(evidence: Evidence) -> bool:
    """Whether it is what the maker asks, or asked at the start."""
    return evidence.source in (LAUNCH_PRICE, LIST_PRICE)


def _paid(usd: Decimal | None) -> Sum:
    return Sum(usd or Decimal(0), exact=True)


def horizon(answer: Answer) -> Message:
    """`3 years`, `14 days`."""
    years = answer.assumptions.horizon_years
    if years < 1:
        return Message("{count} days", count=round(years * costs.DAYS_A_YEAR))
    return Message("{count} years", count=f"{years.normalize():f}")


class _Said(NamedTuple):
    """A headline as sentences."""

    found: Headline
    answer: Answer

    def first(self) -> Iterator[Message]:
        """The one to buy, and what it needs."""
        option, answer = self.found.option, self.answer
        if all(one.evidence is None or _is_of_maker(one.evidence) for one in answer.options if one.way == "buy"):
            yield Message(
                "No price of a shop or of the street is known here in {market}: these are prices of the makers, "
                "mostly of the day on which a card came out. `gpuledger refresh` reads those of today.",
                market=Label(f"market {answer.stock.place.market}"),
            )
        if answer.instead is not None:
            yield answer.instead
        if option.behind:
            yield Message("Nothing here is comfortable; this comes nearest, but {why:; }.", why=option.behind)
        for argument, comfortable in answer.comfortable.items():
            yield Message(
                "Comfortable with {argument}: {what}; {pace}." if argument
                else "The cheapest comfortable one is over the budget: {what}.",
                argument=argument, what=self._beside(comfortable), pace=self._pace(comfortable),
            )  # fmt: skip
        yield self._what_to_do()
        yield from self.speed()
        if (hours := busy_hours(option, answer.need, answer.limits)) is not None:
            yield Message("What is asked takes it {hours:.2g} hours a day.", hours=hours)
        if option.prediction is not None and option.prediction.verdict == "tight":
            yield Message(
                "Its memory is just enough: {needed:.1f} of {available:.1f} GB.", needed=option.needed_gb,
                available=option.available_gb,
            )  # fmt: skip
        if option.prediction is not None and option.prediction.moved is not None:
            yield Message(
                "The machine's memory takes {size:,.0f} GB of it.",
                size=option.prediction.moved.size / 1e9,
            )
        if answer.more_bits is not None:
            precision, rate = answer.more_bits
            yield Message(
                "It holds {precision} comfortably too, at {speed} tokens/s.", precision=precision, speed=_speed(rate)
            )
        if option.total_usd is not None:
            yield self._in_all()
        yield from self._with_owned()
        yield from self._machine()

    def for_less(self) -> Iterator[Message]:
        """The pick for less money, with what is given up."""
        option = self.answer.picks and self.answer.picks.for_less
        if option:
            saved = (self.found.option.outlay_usd or Decimal(0)) - (option.outlay_usd or Decimal(0))
            yield Message(
                "For less: {what}, {saved} less; {pace}.", what=self._beside(option), saved=_paid(saved),
                pace=self._pace(option),
            )  # fmt: skip
        if self.answer.fewer_bits is not None:
            need, option = self.answer.fewer_bits
            yield Message(
                "At {precision}, for less: {what}; {pace}." if need.tuning is None
                else "Trained with {precision}, for less: {what}; {pace}.",
                precision=need.tuning.way if need.tuning else need.precision, what=self._beside(option),
                pace=self._pace(option),
            )  # fmt: skip

    def other(self) -> Iterator[Message]:
        """The pick in the other condition."""
        option = self.answer.picks and self.answer.picks.other
        if option:
            yield Message(
                "New, with its warranty: {what}; {pace}." if option.condition == "new"
                else "Used, for less: {what}; {pace}.",
                what=self._beside(option), pace=self._pace(option),
            )  # fmt: skip
        if any(pick.condition in ("used", "refurbished", "open_box") for pick in self.answer.picks or () if pick):
            yield Message("A used card has no warranty: run it under load before the days to return it are over.")

    def cheaper(self) -> Iterator[Message]:
        """What is cheaper and runs."""
        option = self.found.cheaper
        if option is not None:
            why = option.behind or (Message(OLD_PRICE if option.may_have_risen else "more memory than this needs"),)
            yield Message(
                "Cheaper and faster, but {why:; }: {what}; {pace}."
                if option.each_a_second > self.found.option.each_a_second
                else "Cheaper, and it runs: {what}; {pace}, but {why:; }.",
                what=self._beside(option), pace=self._pace(option), why=why,
            )  # fmt: skip
        first = self.found.option.outlay_usd or Decimal(0)
        for short in offered_in_too_few(self.answer.options):
            if short.outlay_usd is not None and short.outlay_usd < first:
                yield Message("Not in this number: {what}; {why:; }.", what=self._beside(short), why=short.against)
                return

    def _beside(self, option: Option) -> Message:
        """An option beside the first, where its price is from, and what it costs on day one."""
        outlay = Message(
            "{outlay} on day one" if option.way == "buy" else "{outlay} of rent", outlay=_paid(option.outlay_usd)
        )
        what, where = _bought(option, self.answer), _where(option.evidence)
        return Message("{what} {where} for {paid}", what=what, where=where, paid=outlay)

    def _pace(self, option: Option) -> Message:
        """How fast another option is, in what it makes."""
        first, each = self.found.option.each_a_second, option.each_a_second
        ratio = f"{each / first:.2g}" if first else "?"
        times = Message("as fast") if ratio == "1" else Message("{times} times as fast", times=ratio)
        if option.pictures is not None:
            return Message("{time} for each, {times}", time=_time(1 / option.pictures.per_s), times=times)
        if (heard := option.heard) is not None:
            return Message("speech {times:.3g} times as fast as it is spoken", times=heard.values["times"])
        if option.speed is None:
            return Message("nobody knows how fast")
        return Message("{speed} tokens/s, {times}", speed=_speed(each), times=times)

    def _what_to_do(self) -> Message:
        option = self.found.option
        evidence, price, outlay = option.evidence, _paid(option.price_usd), _paid(option.outlay_usd)
        if option.way != "buy":
            return Message(
                "Rent {what} ({way}) for {price} an hour.", what=option.what, way=Label(option.way.replace("_", " ")),
                price=price,
            )  # fmt: skip
        if evidence is None:
            return Message("Use {what}, which you have; {outlay} on day one.", what=option.what, outlay=outlay)
        tax, missing = self.answer.stock.place.tax_missing, Message("shipping not included")
        if tax and not self.answer.assumptions.sales_tax_share:
            named_tax = Message("sales tax") if tax == "sales tax" else tax
            missing = Message("shipping and {tax} not included", tax=named_tax)
        return Message(
            "Buy {what} {where} for {price}; with the machine {outlay} on day one ({missing})."
            if machine_usd(option, self.answer)
            else "Buy {what} {where} for {price}; {outlay} on day one ({missing}).",
            what=_bought(option, self.answer),
            where=_where(evidence),
            price=price,
            outlay=outlay,
            missing=missing,
        )

    def _with_owned(self) -> Iterator[Message]:
        """The best way with each card that the user has, where the first answer is another one."""
        for gpu_id, count in self.answer.limits.owned:
            ways = [option for option in self.answer.options if option.gpu_id == gpu_id and option.way == "buy"]
            if gpu_id == self.found.option.gpu_id or not ways:
                continue
            answers = [option for option in ways if not option.against]
            best = min(answers or ways, key=lambda one: (not one.fits, one.condition != OWNED, one.total_usd or 0))
            yours = best.gpu if count == 1 else f"{count} × {best.gpu}"
            if not answers:
                yield Message(
                    "Not with your {yours}: {what} {why:; }.", yours=yours, what=named(best), why=best.against
                )
            elif best.condition == OWNED:
                yield Message(
                    "Your {yours} runs it too, {speed} tokens/s, but {why:; }.", yours=yours,
                    speed=_speed(best.each_a_second), why=best.behind,
                )  # fmt: skip
            elif best.price_usd is None:
                yield Message(
                    "Your {yours} alone does not do it; {what} would, {speed} tokens/s, but no price of another one "
                    "counts today.", yours=yours, what=best.what, speed=_speed(best.each_a_second),
                )  # fmt: skip
            else:
                yield Message(
                    "With your {yours}: {what}, {price} for what is added; {outlay} on day one, {speed} tokens/s, "
                    "{total} in all.", yours=yours, what=named(best), price=_paid(best.price_usd),
                    outlay=_paid(best.outlay_usd), total=_paid(best.total_usd), speed=_speed(best.each_a_second),
                )  # fmt: skip
                yield Message("Different cards in one machine are not computed.")

    def speed(self) -> Iterator[Message]:
        """How fast it is, and how sure that is."""
        option, users = self.found.option, self.answer.need.users
        if option.pictures is not None:
            made, model = option.pictures, self.answer.need.diffusion
            if model is None or made.basis == "measured":
                yield Message("{rate} pictures a minute, measured.", rate=f"{made.per_s * option.gpu_count * 60:.3g}")
            else:
                yield made_in(model, Rate(made.per_s, made.low, made.high, None, made.basis), made.iterations)
        yield from (note for note in option.notes if note.template in (HEARD, WAITING))
        if option.speed is None:
            return
        rate, each = option.speed.rate, option.speed.each
        if self.answer.need.tuning is not None:
            yield from self._training(rate)
            return
        if rate.basis == "measured":
            yield Message("{speed} tokens/s, measured.", speed=_speed(each))
            return
        share = each / option.speed.expected if option.speed.expected else 1.0
        low, high = (_speed((figure or 0) * share) for figure in (rate.low, rate.high))
        if self.answer.need.reads_only:
            yield Message(
                "Reads {speed} tokens/s ({low} to {high}, {basis}): a million tokens take {time}.", speed=_speed(each),
                low=low, high=high, basis=_basis(rate), time=_time(1_000_000 / each),
            )  # fmt: skip
            return
        whom = Message("you") if users == 1 else Message("each of {users}", users=users)
        basis = _basis(rate)
        yield Message(
            "{speed} tokens/s for {whom} ({low} to {high}, {basis}).", speed=_speed(each), whom=whom, low=low,
            high=high, basis=basis,
        )  # fmt: skip

    def _training(self, rate: Rate) -> Iterator[Message]:
        """How long the training takes, and what those hours cost if somebody says how many tokens it has."""
        from gpuledger.transform.speed import training

        option, tokens = self.found.option, self.answer.question.usage.train_tokens
        yield training.said(rate, tokens)
        if tokens is None or not rate.expected or option.price_usd is None:
            return
        if option.own is None:
            hour = costs.rent_per_used_hour(option.price_usd, option.way, self.answer.assumptions)
        else:
            hour = option.own.running_per_hour

        def paid(each: float | None) -> Sum | None:
            return _paid(hour * Decimal(tokens / each / costs.SECONDS_AN_HOUR)) if each else None

        yield Message(
            "Those hours cost {cost} of rent ({least} to {most})." if option.own is None
            else "Those hours cost {cost} of electricity ({least} to {most}).",
            cost=paid(rate.expected), least=paid(rate.high), most=paid(rate.low),
        )  # fmt: skip

    def _in_all(self) -> Message:
        option, time = self.found.option, horizon(self.answer)
        if option.own is None:
            hours = f"{self.answer.assumptions.hours_per_day.normalize():f}"
            return Message(
                "After {time} {total} in all, at {hours} hours a day.", time=time, total=_paid(option.total_usd),
                hours=hours,
            )  # fmt: skip
        own = option.own
        share = None
        if option.host is not None and machine_usd(option, self.answer):
            share = 1 - option.host.around(self.answer.assumptions).share
        return Message(
            "After {time} {total} in all: {running} more to run it, less {kept} that it is still worth."
            if share is None
            else "After {time} {total} in all: {running} more to run it, less {kept} (resale of the cards, {share:.0%} of "
            "the machine)."
            if share
            else "After {time} {total} in all: {running} more to run it, less {kept} (resale of the cards, none of "
            "the machine).",
            time=time, total=_paid(own.total), running=_paid(own.running), kept=_paid(own.kept), share=share,
        )  # fmt: skip

    def rented(self) -> Iterator[Message]:
        """Below what use it is cheaper to rent, or to ask an interface; where none is named, why."""
        found, rental = self.found, self.found.rental
        if rental is not None:
            what = Message("{what}, {price} an hour", what=rental.what, price=_paid(rental.price_usd))
            if found.rent_below is None:
                yield Message("Renting is cheaper at any number of hours ({rental}).", rental=what)
            elif found.rent_below > 0:
                yield Message(
                    "Renting is cheaper below {hours} hours a month ({rental}).", hours=f"{found.rent_below:,.0f}",
                    rental=what,
                )  # fmt: skip
            else:
                yield Message("Renting is cheaper at no number of hours ({rental}).", rental=what)
        elif found.option.way == "buy":
            yield from to_rent(self.answer)
        yield from self._interface()

    def _interface(self) -> Iterator[Message]:
        """Below how many tokens somebody else's machine is cheaper, for those whose data may leave the house."""
        api, below, need = self.found.api, self.found.api_below, self.answer.need
        if api is None or need.job is None:
            yield from hosted_by(self.answer)
            return
        asked = Requested(*need.request)
        prompt = asked.read + asked.again
        provider: Message | str = api.provider
        if api.service != "standard":
            provider = Message("{provider} in a batch", provider=provider)
        if api.listed_by is not None:
            provider = Message("{provider} (says {list})", provider=provider, list=seller(api.listed_by))
        what = Message(
            "{name} at {provider}, {read} for a million tokens read, {again} read again and {written} written, seen "
            "on {day}; with each answer it reads {before} tokens of the context again (reread_share)"
            if asked.again
            else "{name} at {provider}, {read} for a million tokens read and {written} written, seen on {day}",
            name=api.hosted_name,
            provider=provider,
            read=_paid(api.usd("input", prompt)),
            again=_paid(api.usd("cache read", prompt)),
            before=f"{asked.again:,}",
            written=_paid(api.usd("output", prompt)),
            day=f"{api.seen_on:%Y-%m-%d}",
        )
        tokens = self.answer.limits.tokens_per_month
        if tokens is not None:
            yield Message(
                "If your data may leave the house, an API asks {usd} a month for as many tokens ({api}).",
                usd=_paid(asked.usd(api) * tokens / asked.tokens), api=what,
            )  # fmt: skip
        elif below is None or below <= 0:
            yield Message(
                "If your data may leave the house, an API is cheaper than all that this can write ({api})."
                if below is None
                else "An API is cheaper at no number of tokens ({api}).",
                api=what,
            )
        else:
            share = f"{prompt / asked.tokens:.0%}"
            yield Message(
                "If your data may leave the house, an API is cheaper below {millions} million tokens a month, "
                "{share} of them read ({api}).", millions=f"{below / 1_000_000:,.3g}", share=share, api=what,
            )  # fmt: skip

    def _machine(self) -> Iterator[Message]:
        """What the cards go into, and how much of its price is our estimate."""
        option, answer = self.found.option, self.answer
        host, supply = option.host, supply_of(option)
        if host is None or supply is None or option.bought is None:
            return
        machine, needs = machine_usd(option, answer), list[Message]()
        if memory := memory_gb(option, answer):
            needs.append(Message("{memory:g} GB of memory", memory=memory))
        if not host.whole:
            needs.append(Message("{boards} × slot as wide as the card", boards=option.bought.boards))
        needs.append(Message("a supply of {watts} W", watts=f"{supply:,}"))
        if option.chip is not None and has_no_fan(option.chip):
            needs.append(Message("fans for cards that have none"))
        if machine is None:
            yield Message("Your machine needs {needs:, }.", needs=tuple(needs))
            return
        factor = 1 + answer.limits.machine_tax
        low, high = (_paid((usd or 0) * factor) for usd in (host.low_usd, host.high_usd))
        yield Message(
            "Machine: {kind} with {needs:, }; {price} is our estimate of {day} ({low} to {high}).",
            kind=Label(host.name), needs=tuple(needs), price=_paid(machine),
            low=low, high=high, day=f"{estimated_on():%Y-%m}",
        )  # fmt: skip

    def marks(self) -> Iterator[Message]:
        """What a reader must know about the prices."""
        option = self.found.option
        mark, evidence = mark_of(option), option.evidence
        brought = [pick.evidence for pick in self.answer.picks or (option,) if pick and pick.evidence]
        brought = [one for one in brought if _is_of_street(one) or _is_of_maker(one)]
        if "stale" in mark and evidence is not None:
            if evidence in brought:
                yield Message(
                    "The price is stale: it is {days} days old.",
                    days=(self.answer.stock.now - evidence.price_since).days,
                )
            else:
                yield Message("The price is stale: {shop} could not be read last time.", shop=evidence.shop)
        elif silent := self.answer.stock.silent:
            yield Message(
                "Some prices are older than usual: {sources}.",
                sources=", ".join(f"{seller(source)} ({at:%Y-%m-%d})" for source, at in silent),
            )
        if evidence is not None and _is_of_maker(evidence):
            yield from self._dearer_elsewhere(option)
        if "invented" in mark and option.way != "buy":
            yield Message("The price is invented: it is of the sample.")
        if evidence is not None and evidence.omits_tax:
            yield Message("This quote does not say whether tax is in its price: ask before you order.")
        if evidence is not None and evidence.source == ANY_SHOP:
            yield Message(PRESUMED, shop=evidence.shop)
        if not self.answer.stock.is_packaged and not _is_sold(self.answer.options):
            yield Message(_NO_SHOP, market=Label(f"market {self.answer.stock.place.market}"))
        of_all = [one.evidence for one in self.answer.options if one.evidence and _is_of_street(one.evidence)]
        months = sorted(f"{one.price_since:%Y-%m}" for one in [one for one in brought if _is_of_street(one)] or of_all)
        if brought and months:
            yield Message(
                "Street prices are what others published in {months}; where none was found, the maker's price stands: "
                "`gpuledger refresh` reads those of today.",
                months="–".join(dict.fromkeys((months[0], months[-1]))),
            )

    def _dearer_elsewhere(self, option: Option) -> Iterator[Message]:
        """That the street of another market asks far more for a card than its maker, so that it may here."""
        street = newest_street_price(option.gpu_id or "")
        boards = option.bought.boards if option.bought else option.gpu_count
        asked = (option.price_usd or Decimal(0)) / boards
        if street is not None and street.usd > asked * _FAR_MORE:
            yield Message(
                "On the street of {market} one cost {price} in {month} ({source}): expect to pay more than its maker "
                "asks.",
                price=_paid(street.usd), market=Label(f"market {street.market}"), month=f"{street.day:%Y-%m}",
                source=street.source,
            )  # fmt: skip


def _is_sold(options: Sequence[Option]) -> bool:
    """Whether something has the price of a shop, also if it is no answer."""
    return any(option.price_usd is not None and option.way == "buy" for option in options)


def to_rent(answer: Answer) -> Iterator[Message]:
    """Why no rental stands beside what is bought, or is an answer. Nothing if only some shops were asked."""
    holding = [one for one in answer.rentals if one.price_usd is not None]
    known = sum(option.way != "buy" for option in answer.options)
    if holding:
        least = min(holding, key=lambda one: one.price_usd or 0)
        why = least.against or (Message("slower than this, or not a price by the hour of today"),)
        yield Message(
            "To rent there is {what} ({way}) for {price} an hour: {why:; }.", what=least.what,
            way=Label(least.way.replace("_", " ")), price=_paid(least.price_usd),
            why=why if least.each_a_second else (Message("its speed is not known"),),
        )  # fmt: skip
    elif known:
        yield Message(
            "Nothing to rent here runs it: none of {count} rental prices is of cards that hold it.", count=known
        )
    elif not answer.question.shops:
        yield Message("No rental price is known here.")


def hosted_by(answer: Answer) -> Iterator[Message]:
    """Which interfaces host the model where their price is not compared with anything, or that none is known."""
    if answer.hosted and answer.need.job is not None:
        names = dict.fromkeys(one.provider for one in answer.hosted)
        yield Message("It is hosted too, by {names:, }.", names=tuple(names))
    else:
        yield Message("No price of a hosted API is known.")


def why_nothing(answer: Answer) -> list[Message]:
    """Why no option is an answer, the argument that rules out most, and what would give an answer."""
    model, precision = answer.need.model_id, answer.need.precision
    why = [Message("nothing within what is asked runs {model} at {precision}", model=model, precision=precision)]
    if not answer.stock.is_packaged and not _is_sold(answer.options):
        # After weeks without a night no price counts in any market.
        too_old = list(without_prices(answer.options))
        return [*why, *(too_old or [Message(_NO_SHOP, market=Label(f"market {answer.stock.place.market}"))])]
    for number, (argument, without) in enumerate(answer.blocked):
        if number == 0 or argument.startswith("--condition"):
            why.append(Message(
                "without {argument} there are {count} answers, the first: {what}, {price}", argument=argument,
                count=len(without.ranking), what=without.first_named,
                price=_paid(without.picks and without.picks.first.outlay_usd),
            ))  # fmt: skip
    return [*why, *answer.remedies, *to_rent(answer), *hosted_by(answer)]
