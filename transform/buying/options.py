"""Every way to run the model: cards alone and in nodes, and instances, with what each costs and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from gpuledger.transform.assumptions import Assumptions, kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.copies import HARDLY_FASTER, Copies
from gpuledger.transform.buying.hosts import Host, host_for, host_with_room, hosts, outlet_watts
from gpuledger.transform.buying.market import Card, Evidence, Instance, Measurement, Node, Pictures
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.performance import utilisation
from gpuledger.transform.buying.rent_or_buy import around
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.features import memory_kind
from gpuledger.transform.speed.predict import MOST_CARDS, Prediction, Rate, with_ceiling, with_measurement
from gpuledger.transform.speed.serving import Serving, serving

#: Cards of one kind in one machine, as people build them; where they do not divide the heads, they share the layers.
NODES = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an answer must keep to; None for no limit. `min_tokens_per_s` is what each user must see; `country` says what an
    outlet gives.
    """

    budget_usd: Decimal | None = None
    min_tokens_per_s: float | None = None
    country: str | None = None
    #: Leave out what does not hold the model or does not run its precision, before its speed is reckoned.
    fitting: bool = False
    #: Also load the model more than once on the cards of a machine, where users are served faster so.
    copies: bool = False


class Power(NamedTuple):
    """What is fed: `boards` of `tdp_w` watts each, and `host_w` beside them."""

    tdp_w: int
    boards: int
    host_w: Decimal


class Stand(NamedTuple):
    """So many boards of a card in a machine, whatever runs on them: what they cost, and what speaks against them."""

    host: Host | None
    own: costs.Ownership | None
    power: Power | None
    against: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What can be had, what was measured by card (`pictures` of an image model), and what memory and speed follow from.

    `machines` share their memory with the processor, and no shop's price of them is known.
    """

    cards: Sequence[Card]
    instances: Sequence[Instance]
    measured: Mapping[str, Measurement]
    chips: Mapping[str, Gpu]
    nodes: Sequence[Node] = ()
    pictures: Mapping[str, Pictures] = field(default_factory=dict)
    machines: Sequence[Gpu] = ()
    #: What was reckoned of boards before, by what it was reckoned with: the same for every model that is asked about.
    stands: dict[tuple[Assumptions, str | None], dict[tuple[str, str, int, str], Stand]] = field(
        default_factory=dict, compare=False, repr=False
    )


class Speed(NamedTuple):
    """Tokens a second of an option, all users together: what to expect with its range and bound (`rate`), what each user
    sees (`each`), and the shares of reading and writing in a steady state. `verdict` and `measured` are of a measurement.
    """

    rate: Rate
    each: float
    verdict: str | None
    measured: Measurement | None
    serving: Serving | None

    @property
    def expected(self) -> float:
        """What to count on, all users together."""
        return self.rate.expected or 0.0

    @property
    def bound(self) -> float:
        """What physics allows at most."""
        return self.rate.bound or 0.0


class Option(NamedTuple):
    """One way to run the model. `price_usd` is of all cards, or of an hour; `outlay_usd` what the budget is asked for. Both
    are None, as is the evidence, for a machine whose price nobody here has stated.

    `against` are the reasons why it is no answer, empty where it is one; `notes` what its buyer must know.
    """

    way: str
    #: Of a card that is bought: `new`, `open_box`, `refurbished` or `used`.
    condition: str | None
    what: str
    gpu_id: str | None
    gpu: str
    gpu_count: int
    price_usd: Decimal | None
    outlay_usd: Decimal | None
    needed_gb: float
    available_gb: float
    prediction: Prediction | None
    speed: Speed | None
    host: Host | None
    own: costs.Ownership | None
    total_usd: Decimal | None
    usd_per_million_tokens: Decimal | None
    usd_per_million_read: Decimal | None
    evidence: Evidence | None
    against: tuple[str, ...]
    notes: tuple[str, ...] = ()
    #: Of an image model on a card that was measured: each GPU makes its own pictures.
    pictures: Pictures | None = None
    usd_per_thousand_images: Decimal | None = None
    #: Of what is owned, where its power is known.
    power: Power | None = None
    #: How often the model is loaded, each time on an equal part of the GPUs; `prediction` is of one of these.
    copies: int = 1

    @property
    def fits(self) -> bool:
        """The model fits in the memory."""
        return self.needed_gb <= self.available_gb

    @property
    def prefill_bound(self) -> float | None:
        """Prompt tokens a second at most; None where a rate of the card is not known or the model reads no prompt."""
        bound = None if self.prediction is None else self.prediction.prefill.bound
        return None if bound is None else bound * self.copies


def options(need: Need, limits: Limits, market: Market, assumptions: Assumptions) -> list[Option]:
    """All options, the cheapest over the horizon first; those whose cost is not known come last.

    Of a card or instance whose chip is not in the market's `chips` only memory and bandwidth are taken to be known.
    """
    return list(first_options(need, limits, market, assumptions, 0).options)


@dataclass(frozen=True, slots=True)
class Found:
    """The first options in their order; of the answers behind them how many there are (`more`), and those `unpriced`."""

    options: Sequence[Option]
    more: int
    unpriced: Sequence[Option]


def first_options(need: Need, limits: Limits, market: Market, assumptions: Assumptions, count: int) -> Found:
    """The options up to the `count`-th answer, or all of them for 0, or where there are fewer answers.

    What an option costs says its place, so the others need only be judged: who shows ten of two thousand does not wait until
    the speed of each is known.
    """
    asked = _Asked(need, limits, market, assumptions, Copies(need))
    ways: tuple[_Boards | _Reckoned, ...] = (
        *asked.bought(),
        *map(_Reckoned, (*asked.offered(), *asked.rented(), *asked.without_price())),
    )
    by_place = groupby(sorted(ways, key=lambda way: way.place), key=lambda way: way.place)
    found: list[Option] = []
    answers = 0
    for _, alike in by_place:
        these = [asked.with_pictures(option) for way in alike for option in way.options()]
        found += sorted(these, key=lambda option: option.what)
        answers += sum(not option.against for option in these)
        if count and answers >= count:
            break
    left = [way for _, alike in by_place for way in alike]
    unpriced = [way.option for way in left if isinstance(way, _Reckoned) and way.option.price_usd is None]
    return Found(found, sum(way.answers() for way in left), [option for option in unpriced if not option.against])


def measured_first(found: Sequence[Option]) -> list[Option]:
    """The options of an image model that were measured before the others, of which nobody knows how fast they are."""
    return sorted(found, key=lambda option: option.pictures is None)


def beside_measurements(
    prediction: Prediction, measured: Mapping[str, Measurement], gpu_id: str | None, bandwidth: float
) -> tuple[Rate, Measurement | None]:
    """The rate of writing as it stands beside measurements of that model and precision, and the card's own where it has one.

    What nobody measured is never expected above what a card of more bandwidth was measured at: where software limited that
    one, it limits this one too. Measurements are of one sequence on one card.
    """
    rate = prediction.decode
    if prediction.job.load.users > 1:
        return rate, None
    own = measured.get(gpu_id or "") if prediction.plan.count == 1 else None
    if own is not None:
        timed = prediction.writing
        held = None if timed is None else timed.bound_of_held_cache
        return with_measurement(rate, own.tokens_per_s, held), own
    faster = [m.tokens_per_s for m in measured.values() if m.bandwidth_gb_s >= bandwidth]
    return (with_ceiling(rate, min(faster)) if faster else rate), None


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question to one market."""

    need: Need
    limits: Limits
    market: Market
    assumptions: Assumptions
    copies: Copies

    def with_pictures(self, option: Option) -> Option:
        """An option of an image model with its measured speed and what a thousand pictures cost; others as they are."""
        measured = self.market.pictures.get(option.gpu_id or "")
        if measured is None or not option.fits:
            return option
        cost = None
        if option.total_usd is not None:
            hours = self.assumptions.hours_per_day * costs.DAYS_A_YEAR * self.assumptions.horizon_years
            busy = hours * self.assumptions.utilisation
            if busy:
                cost = costs.cost_per_thousand_images(option.total_usd, busy, measured.per_s * option.gpu_count)
        return option._replace(pictures=measured, usd_per_thousand_images=cost)

    def _leaves_out(self, gpu: Gpu, gpus: int) -> bool:
        """Whether only what holds and runs the model is asked for, and these do not."""
        if not self.limits.fitting or self.need.offload != "none":
            return False  # what stays with the processor is known with the machine
        together = gpus if self.need.splits else 1
        holds = self.need.needed_bytes(together) <= self.need.usable_bytes(gpu, together)
        return not holds or not self.need.engine.runs_on(gpu, self.need.precision)

    def bought(self) -> Iterator[_Boards]:
        stands = self.market.stands.setdefault((self.assumptions, self.limits.country), {})
        for card in self.market.cards:
            if not card.memory_gb:
                continue  # whether anything fits on it is not known
            gpu = self.chip(card.gpu_id, card.gpu, card.memory_gb, card.bandwidth_gb_s)
            for boards in NODES if self.need.splits else (1,):
                gpus = boards * card.gpus_on_board
                if gpus > MOST_CARDS or self._leaves_out(gpu, gpus):
                    continue
                host = self._host(card, gpu, boards)
                key = (card.gpu_id, card.condition, boards, host.name if host else "")
                stand = stands.get(key)
                if stand is None:
                    stand = stands[key] = self._stand(card, boards, host)
                yield _Boards(self, card, gpu, boards, stand)

    def _host(self, card: Card, gpu: Gpu, boards: int) -> Host | None:
        """The machine around so many boards: with memory for what stays with the processor, where anything may."""
        if self.need.offload == "none":
            return host_for(gpu, boards, card.tdp_w)
        gpus = boards * card.gpus_on_board
        return host_with_room(
            gpu, boards, card.tdp_w, lambda host: self.need.on(gpu, gpus, host.memory(self.assumptions))
        )

    def _stand(self, card: Card, boards: int, host: Host | None) -> Stand:
        own = power = None
        if card.tdp_w is not None:
            long_enough = card.history_years is not None and card.history_years * 2 >= float(
                self.assumptions.horizon_years
            )
            assumed = kept(self.assumptions, card.value_kept if long_enough else None)
            machine = self._around(False, host)
            own = costs.ownership(card.price_usd, card.tdp_w, assumed, count=boards, machine=machine)
            power = Power(card.tdp_w, boards, machine.watts)
        watts = (card.tdp_w or 0) * boards
        unheld = () if host is not None else (f"no machine of hosts.toml holds {boards} of it ({watts:,} W)",)
        return Stand(host, own, power, (*_without_power(own), *unheld), self._power(card, boards, host))

    def trained(self, gpu: Gpu, count: int) -> tuple[str, ...]:
        """How fast it can be trained at most: nobody here measured how fast it is."""
        bound = self.need.training_bound(gpu, count)
        return (
            () if bound is None else (f"trains {bound:,.0f} tokens/s at most, by the matrix rate; nobody measured it",)
        )

    def _power(self, card: Card, boards: int, host: Host | None) -> tuple[str, ...]:
        """Says so where the machine draws more than an outlet gives."""
        if card.tdp_w is None or host is None:
            return ()
        watts = costs.wall_watts(card.tdp_w, boards, self.assumptions, busy=True, host_w=host.power_w(self.assumptions))
        outlet = outlet_watts(self.limits.country)
        return (f"draws {watts:,.0f} W; an ordinary outlet gives {outlet:,} W",) if watts > outlet else ()

    def offered(self) -> Iterator[Option]:
        """Servers, laptops and lots as they are offered: the price is of the whole, and a machine has its host in it."""
        for node in self.market.nodes:
            if not node.memory_gb or node.gpus > MOST_CARDS:
                continue  # whether anything fits on it is not known
            gpu = self.chip(node.gpu_id, node.gpu, node.memory_gb, node.bandwidth_gb_s)
            if self._leaves_out(gpu, node.gpus):
                continue
            host = host_for(
                gpu, max(1, round(node.gpus / gpu.gpus_on_board)), node.tdp_w and round(node.tdp_w / node.gpus)
            )
            own = power = None
            if node.tdp_w is not None:
                machine = self._around(node.is_machine, host)
                own = costs.ownership(node.price_usd, node.tdp_w, self.assumptions, machine=machine)
                power = Power(node.tdp_w, 1, machine.watts)
            total = own.total if own else None
            prediction = self.need.on(
                gpu, node.gpus, None if node.is_machine or host is None else host.memory(self.assumptions)
            )
            speed = self.speed(prediction, node.gpu_id, node.bandwidth_gb_s)
            needed, available = _memory(self.need, gpu, node.gpus, prediction)
            written, read = self.per_million(total, own.busy_hours if own else None, speed)
            yield Option(
                way="buy", condition=node.condition, what=f"{node.kind}: {node.title}", gpu_id=node.gpu_id,
                gpu=node.gpu if node.gpus == 1 else f"{node.gpus} × {node.gpu}", gpu_count=node.gpus,
                price_usd=node.price_usd, outlay_usd=node.price_usd, needed_gb=needed, available_gb=available,
                prediction=prediction, speed=speed, host=None, own=own, total_usd=total, usd_per_million_tokens=written,
                usd_per_million_read=read, evidence=node.evidence,
                against=(
                    *self.against(needed, available, node.price_usd), *self.too_slow(speed),
                    *(() if memory_kind(gpu) == "shared" else _without_power(own)), *self.unsupported(gpu),
                ),
                power=power,
            )  # fmt: skip

    def _around(self, is_machine: bool, host: Host | None) -> costs.Machine:
        """What stands around the cards of an offer: a machine has it in its price, and a lot goes into one like any cards.

        Where no machine of ours holds them, the offer's own draws what a desktop does.
        """
        machine = around(hosts()[0] if host is None else host, self.assumptions)
        return machine._replace(usd=Decimal(0)) if is_machine else machine

    def without_price(self) -> Iterator[Option]:
        """Machines of shared memory that no shop here sells: whether they run the model and how fast, and no cost."""
        for gpu in self.market.machines:
            prediction = self.need.on(gpu, 1)
            speed = self.speed(prediction, gpu.gpu_id, gpu.memory_bandwidth_gb_s)
            if speed is None:
                continue  # a name without price and speed helps nobody to choose
            needed, available = _memory(self.need, gpu, 1, prediction)
            note = "no shop's price is known here: a quote in the inbox gives it one"
            if gpu.msrp_usd is not None:
                note += f"; its maker asked {gpu.msrp_usd:,.0f} USD when it came out"
            yield Option(
                way="buy", condition=None, what=gpu.display_name, gpu_id=gpu.gpu_id, gpu=gpu.display_name, gpu_count=1,
                price_usd=None, outlay_usd=None, needed_gb=needed, available_gb=available, prediction=prediction,
                speed=speed, host=host_for(gpu, 1, gpu.tdp_w), own=None, total_usd=None, usd_per_million_tokens=None,
                usd_per_million_read=None, evidence=None,
                against=(*self.against(needed, available, None), *self.too_slow(speed), *self.unsupported(gpu)),
                notes=(note,),
            )  # fmt: skip

    def rented(self) -> Iterator[Option]:
        hours = self.assumptions.hours_per_day * costs.DAYS_A_YEAR * self.assumptions.horizon_years
        for one in self.market.instances:
            gpu = self.chip(one.gpu_id, one.gpu, one.memory_gb, one.bandwidth_gb_s)
            if self._leaves_out(gpu, one.gpu_count):
                continue
            total = costs.rent_per_used_hour(one.hour_usd, one.pricing_model, self.assumptions) * hours
            prediction = self.need.on(gpu, one.gpu_count) if one.gpu_count <= MOST_CARDS else None
            speed = self.speed(prediction, one.gpu_id, one.bandwidth_gb_s)
            needed, available = _memory(self.need, gpu, one.gpu_count, prediction)
            place = " ".join(filter(None, [one.provider, one.instance, one.region]))
            gpus = one.gpu if one.gpu_count == 1 else f"{one.gpu_count} × {one.gpu}"
            written, read = self.per_million(total, hours * self.assumptions.utilisation, speed)
            yield Option(
                way=one.pricing_model, condition=None, what=f"{gpus} at {place}", gpu_id=one.gpu_id, gpu=one.gpu,
                gpu_count=one.gpu_count, price_usd=one.hour_usd, outlay_usd=total, needed_gb=needed,
                available_gb=available, prediction=prediction, speed=speed, host=None, own=None, total_usd=total,
                usd_per_million_tokens=written, usd_per_million_read=read, evidence=one.evidence,
                against=(*self.against(needed, available, total), *self.too_slow(speed), *self.unsupported(gpu)),
            )  # fmt: skip

    def unsupported(self, gpu: Gpu) -> tuple[str, ...]:
        if self.need.engine.runs_on(gpu, self.need.precision):
            return ()
        return (f"{self.need.engine.name} is not known to run {self.need.precision} on {gpu.display_name}",)

    def chip(self, gpu_id: str | None, name: str, memory_gb: float, bandwidth: float | None) -> Gpu:
        known = self.market.chips.get(gpu_id or "")
        if known is not None:
            return known
        return Gpu(gpu_id=gpu_id or "", vendor="", name=name, memory_gb=memory_gb, memory_bandwidth_gb_s=bandwidth)

    def speed(self, prediction: Prediction | None, gpu_id: str | None, bandwidth: float | None) -> Speed | None:
        """Speed of so many GPUs; None where nothing is written token by token or the bandwidth is not known."""
        if prediction is None or prediction.decode.expected is None or not bandwidth:
            return None
        rate, own = beside_measurements(prediction, self.market.measured, gpu_id, bandwidth)
        verdict = None
        if own is not None:
            bound = self.need.bound_of_empty_cache(bandwidth)
            verdict = utilisation(own.tokens_per_s, bound, self.assumptions).verdict
        served = serving(prediction, self.need.answer_tokens)
        each = (rate.expected or 0.0) / prediction.job.load.users
        if served is not None and self.need.users > 1:
            each = served.each_tokens_per_s
        return Speed(rate=rate, each=each, verdict=verdict, measured=own, serving=served)

    def per_million(
        self, total: Decimal | None, busy_hours: Decimal | None, speed: Speed | None
    ) -> tuple[Decimal | None, Decimal | None]:
        """Dollars for a million tokens written and read at the load; for one user all is put on what is written."""
        if total is None or not busy_hours or speed is None or speed.expected <= 0:
            return None, None
        served = speed.serving
        if self.need.users == 1 or served is None or self.need.job is None:
            return costs.cost_per_million_tokens(total, busy_hours, speed.expected), None
        read_share = Decimal(str(served.read_share))
        read_rate = served.all_tokens_per_s * self.need.job.load.prompt / self.need.answer_tokens
        written = costs.cost_per_million_tokens(total * (1 - read_share), busy_hours, served.all_tokens_per_s)
        return written, costs.cost_per_million_tokens(total * read_share, busy_hours, read_rate)

    def against(self, needed: float, available: float, outlay: Decimal | None) -> tuple[str, ...]:
        """What speaks against memory and price, as it is shown."""
        limits, reasons = self.limits, []
        if needed > available:
            reasons.append(f"needs {needed:.1f} GB and has {available:.1f}")
        if limits.budget_usd is not None and outlay is None:
            reasons.append("its price is not known, so whether the budget buys it is not")
        elif limits.budget_usd is not None and outlay is not None and outlay > limits.budget_usd:
            reasons.append(f"costs {outlay:,.0f} USD, over the budget of {limits.budget_usd:,.0f}")
        return tuple(reasons)

    def too_slow(self, speed: Speed | None) -> tuple[str, ...]:
        """What speaks against the speed."""
        least = self.limits.min_tokens_per_s
        if least is None:
            return ()
        if speed is None:
            return ("its speed is not known",)
        if speed.each >= least:
            return ()
        basis = "as measured" if speed.rate.basis == "measured" else f"expected of a bound of {speed.bound:.1f}"
        return (f"{speed.each:.1f} tokens/s ({basis}), under {least:g}",)


class _Reckoned(NamedTuple):
    """An option that is known already."""

    option: Option

    @property
    def place(self) -> _Place:
        return _place(self.option.total_usd, self.option.gpu_count)

    def options(self) -> Iterable[Option]:
        return (self.option,)

    def answers(self) -> int:
        return 0 if self.option.against else 1


class _Boards(NamedTuple):
    """So many boards of a card in a machine: an option, and another where more copies of the model serve people faster."""

    asked: _Asked
    card: Card
    gpu: Gpu
    boards: int
    stand: Stand

    @property
    def place(self) -> _Place:
        return _place(self.stand.own.total if self.stand.own else None, self.gpus)

    @property
    def gpus(self) -> int:
        return self.boards * self.card.gpus_on_board

    def options(self) -> Iterator[Option]:
        return map(self._option, self._ways())

    def answers(self) -> int:
        """How many of the options have nothing against them: of most questions memory, machine and price say it."""
        if self.stand.against or self.asked.unsupported(self.gpu):
            return 0
        return sum(map(self._is_answer, self._ways()))

    def _ways(self) -> tuple[int, ...]:
        """How often the model is loaded: once, and as often as serves each user fastest, where once is slower."""
        if not self.asked.limits.copies:
            return (1,)
        ways = [(_each(self._of_one(copies)), copies) for copies in self.asked.copies.on(self.gpu, self.gpus)]
        if not ways:
            return (1,)
        each, copies = max(ways, key=lambda way: way[0])
        return (1, copies) if each > _each(self._of_one(1)) * HARDLY_FASTER else (1,)

    def _is_answer(self, copies: int) -> bool:
        asked = self.asked
        if asked.against(*self._memory(copies), self.card.price_usd * self.boards):
            return False
        return asked.limits.min_tokens_per_s is None or not asked.too_slow(self._of_one(copies))

    def _prediction(self, copies: int) -> Prediction | None:
        """What the cards of one of so many copies make of it."""
        need, host = self.asked.copies.of(copies), self.stand.host
        room = None if host is None or need.offload == "none" else host.memory(self.asked.assumptions)
        return need.on(self.gpu, self.gpus // copies, room)

    def _of_one(self, copies: int) -> Speed | None:
        """The speed of one of so many copies, which is what each user sees."""
        return self.asked.speed(self._prediction(copies), self.card.gpu_id, self.card.bandwidth_gb_s)

    def _of_all(self, copies: int) -> Speed | None:
        """The speed of all of them together."""
        speed = self._of_one(copies)
        if copies == 1 or speed is None:
            return speed
        return _together(speed, self.asked.need.users / self.asked.copies.of(copies).users)

    def _memory(self, copies: int) -> tuple[float, float]:
        """GB that all copies need, and that the cards have for them."""
        need = self.asked.copies.of(copies)
        # What stays with the processor is known with the speed, and nothing else of a prediction is asked for here.
        prediction = None if need.offload == "none" else self._prediction(copies)
        needed, available = _memory(need, self.gpu, self.gpus // copies, prediction)
        return needed * copies, available * copies

    def _option(self, copies: int) -> Option:
        asked, card, stand, gpus = self.asked, self.card, self.stand, self.gpus
        price, total = card.price_usd * self.boards, stand.own.total if stand.own else None
        prediction, speed = self._prediction(copies), self._of_all(copies)
        needed, available = self._memory(copies)
        what = card.gpu if self.boards == 1 else f"{self.boards} × {card.gpu}"
        notes = _offloaded(prediction)
        if copies > 1:
            each, users = gpus // copies, asked.copies.of(copies).users
            what = f"{self.boards} × {card.gpu} ({copies} × {each})"
            notes = (f"{copies} copies of the model, each on {each} of the GPUs and for {users} at once",)
        written, read = asked.per_million(total, stand.own.busy_hours if stand.own else None, speed)
        return Option(
            way="buy", condition=card.condition, what=what,
            gpu_id=card.gpu_id, gpu=card.gpu, gpu_count=gpus, price_usd=price, outlay_usd=price, needed_gb=needed,
            available_gb=available, prediction=prediction, speed=speed, host=stand.host, own=stand.own, total_usd=total,
            usd_per_million_tokens=written, usd_per_million_read=read, evidence=card.evidence,
            against=(
                *asked.against(needed, available, price), *asked.too_slow(speed), *stand.against,
                *asked.unsupported(self.gpu),
            ),
            notes=(*notes, *asked.trained(self.gpu, gpus), *stand.notes), power=stand.power, copies=copies,
        )  # fmt: skip


_Place = tuple[bool, Decimal, int]


def _place(total_usd: Decimal | None, gpu_count: int) -> _Place:
    """By what options are ordered before their names: cost where it is known, then the number of GPUs."""
    return total_usd is None, total_usd or Decimal(0), gpu_count


def _memory(need: Need, gpu: Gpu, gpus: int, prediction: Prediction | None) -> tuple[float, float]:
    """GB (10^9 bytes) that the model needs, and that so many GPUs have for it."""
    if prediction is not None:
        return prediction.needed / 1e9, prediction.usable / 1e9
    together = gpus if need.splits else 1
    return need.needed_bytes(together) / 1e9, need.usable_bytes(gpu, together) / 1e9


def _each(speed: Speed | None) -> float:
    """What each user sees, 0 where that is not known."""
    return 0.0 if speed is None else speed.each


def _together(speed: Speed, times: float) -> Speed:
    """The speed of all copies, which serve so many times the users of one. Each user sees what that one gives."""
    rate, served = speed.rate, speed.serving
    expected, low, high, bound = (
        one if one is None else one * times for one in (rate.expected, rate.low, rate.high, rate.bound)
    )
    of_all = served if served is None else served._replace(all_tokens_per_s=served.all_tokens_per_s * times)
    return speed._replace(rate=Rate(expected, low, high, bound, rate.basis), serving=of_all)


def _offloaded(prediction: Prediction | None) -> tuple[str, ...]:
    """What stays with the processor, in words."""
    if prediction is None or prediction.moved is None:
        return ()
    away = prediction.moved
    what = "the experts of" if away.what == "experts" else ""
    words = " ".join(filter(None, [what, f"{away.layers} of {away.of_layers} layers"]))
    return (f"{words}, {away.size / 1e9:.1f} GB, stay with the processor: nobody measured how fast it reads them",)


def _without_power(own: costs.Ownership | None) -> tuple[str, ...]:
    return ("its power is not known, so its cost is not",) if own is None else ()
