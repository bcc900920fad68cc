"""Every way to run the model: on single cards, on nodes and on instances, with its cost and the reasons against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from gpuledger.message import Message, Sum
from gpuledger.transform.assumptions import Assumptions, with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.hosts import Host, computers, host_for, host_with_room, hosts, outlet_watts
from gpuledger.transform.buying.market import Card, Evidence, Instance, Measurement, Node, Pictures
from gpuledger.transform.buying.need import HARDLY_FASTER, WAITING, Copies, Need, verdict_on
from gpuledger.transform.figures import assumed, both, shown
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed import memory, pieces
from gpuledger.transform.speed.cards import memory_kind
from gpuledger.transform.speed.predict import MOST_CARDS, Prediction, Serving, serving, with_ceiling, with_measurement
from gpuledger.transform.speed.rules import Rate
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency

#: The numbers of equal cards that people put into one machine. If the heads do not divide among them, they share the layers.
NODES = (1, 2, 3, 4, 6, 8)
#: The condition of a card that the user has.
OWNED = "owned"
NO_MACHINE = "no machine of hosts.toml holds {boards} of it ({watts:,} W)"
TOO_FEW_SLOTS = "needs {boards} slots of double width, and your machine counts as one with {slots} (--slots)"
HEADS_NOT_DIVIDED = "{engine} does not divide the model's heads among {cards} cards"
TIGHT = "needs {needed:.1f} of {available:.1f} GB, and less than {least:.0%} stay free"
TOO_MUCH = "takes {hours:.3g} hours a day for what is asked, and is on for {on:g} (--hours-per-day)"
SPEED_UNKNOWN = "its speed is not known"
TOO_SLOW = "{speed:.1f} tokens/s (expected of a bound of {bound:.1f}), under {least:g}"
TOO_SLOW_AS_MEASURED = "{speed:.1f} tokens/s (as measured), under {least:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits for an answer, None for no limit, and what is there already.

    `budget` is what may be paid on day one, in the currency that is shown; with `for_cards` it is for the cards alone.
    `min_tokens_per_s` is the speed that each user must see. `country` decides how much power an outlet gives.
    """

    budget: Decimal | None = None
    currency: Currency = DOLLARS
    for_cards: bool = False
    #: Whether the user has a machine for the cards, and how many boards of which cards (by gpu_id).
    has_host: bool = False
    #: How many cards of double width the machine of the user takes.
    slots: int = 0
    owned: tuple[tuple[str, int], ...] = ()
    #: The machines around those cards, by name: a desktop takes a second card.
    machines: frozenset[str] = frozenset()
    #: The tax on a machine, as a share, where the prices of the market include tax.
    machine_tax: Decimal = Decimal(0)
    min_tokens_per_s: float | None = None
    #: What is to be done: tokens read and written in a month, and hours of speech written down in a day.
    tokens_per_month: int | None = None
    speech_hours_per_day: float | None = None
    country: str | None = None

    def has_machine(self, host: Host) -> bool:
        """Whether the user has this machine."""
        return self.has_host or host.name in self.machines


class Setup(NamedTuple):
    """A number of boards of a card in a machine, whatever runs on them: their cost and the reasons against them."""

    host: Host | None
    own: costs.Ownership | None
    bought: costs.Bought | None
    against: tuple[Message, ...]
    notes: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What is on offer, what was measured by card, and the figures from which memory and speed follow (`chips`, by card).

    `measured` holds speeds of writing, and `pictures` speeds of an image model. `machines` have no price here: they share
    their memory with the processor, or `unpriced` says why by gpu_id.
    """

    cards: Sequence[Card]
    instances: Sequence[Instance]
    measured: Mapping[str, Measurement]
    chips: Mapping[str, Gpu]
    nodes: Sequence[Node] = ()
    pictures: Mapping[str, Pictures] = field(default_factory=dict)
    machines: Sequence[Gpu] = ()
    unpriced: Mapping[str, Message] = field(default_factory=dict)
    #: The setups that were calculated before, by what they depend on. They are the same for every model.
    setups: dict[tuple[object, ...], dict[tuple[object, ...], Setup]] = field(
        default_factory=dict, compare=False, repr=False
    )


class Speed(NamedTuple):
    """The speed of an option, in tokens a second.

    `rate` is the speed of all users together, with its range and bound, and `each` the speed that one user sees. `serving`
    is the steady state of reading and writing. `measured` is the measurement behind the speed, and `verdict` what it says
    about the card.
    """

    rate: Rate
    each: float
    verdict: str | None
    measured: Measurement | None
    serving: Serving | None

    @property
    def expected(self) -> float:
        """The expected tokens a second of all users together, 0 if not known."""
        return self.rate.expected or 0.0

    @property
    def bound(self) -> float:
        """The largest number of tokens a second that physics allows, 0 if not known."""
        return self.rate.bound or 0.0


class Option(NamedTuple):
    """One way to run the model.

    `price_usd` is the price of all cards, or of an hour. `outlay_usd` is what is compared with the budget: what is paid on
    day one, or the rent over the horizon. Both, and the evidence, are None for a machine whose price we do not know.
    `against` holds the reasons why the option is not an answer, and is empty if it is one. `notes` holds what a buyer must
    know.
    """

    way: str
    what: str
    gpu_id: str | None
    gpu: str
    gpu_count: int
    prediction: Prediction | None
    #: `new`, `open_box`, `refurbished` or `used` for a card that is bought, `owned` for one that is there already.
    condition: str | None = None
    price_usd: Decimal | None = None
    outlay_usd: Decimal | None = None
    total_usd: Decimal | None = None
    host: Host | None = None
    own: costs.Ownership | None = None
    evidence: Evidence | None = None
    against: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
    #: What follows from all this and the question, see `_Question.completed`.
    needed_gb: float = 0.0
    available_gb: float = 0.0
    speed: Speed | None = None
    usd_per_million_tokens: Decimal | None = None
    usd_per_million_read: Decimal | None = None
    #: The measurement of an image model on this card. Each GPU makes its own pictures.
    pictures: Pictures | None = None
    usd_per_thousand_images: Decimal | None = None
    #: What is bought or there, None if its power is not known.
    bought: costs.Bought | None = None
    #: How many times the model is loaded, each time on an equal part of the GPUs. `prediction` is about one of these copies.
    copies: int = 1
    #: Each of the GPUs, and the reasons why an answer is not recommended, see advice.behind.
    chip: Gpu | None = None
    behind: tuple[Message, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the model fits in the memory, or runs with weights that wait in the machine's."""
        return self.needed_gb <= self.available_gb or any(note.template == WAITING for note in self.notes)

    @property
    def is_known(self) -> bool:
        """Whether there is a speed of what does not write token by token: pictures, clips, speech, training."""
        return bool(self.pictures or self.speed or self.heard)

    @property
    def heard(self) -> Message | None:
        """How fast speech is written down, with the figures. None for other models."""
        return next((note for note in self.notes if note.template == pieces.HEARD), None)

    @property
    def may_have_risen(self) -> bool:
        """Whether its price is a stale one of the street."""
        return self.evidence is not None and self.evidence.may_have_risen

    @property
    def each_a_second(self) -> float:
        """The tokens a second that each user sees, or the pictures a second of all cards, 0 if not known."""
        if self.pictures is not None:
            return self.pictures.per_s * self.gpu_count
        return 0.0 if self.speed is None else self.speed.each

    @property
    def prefill_bound(self) -> float | None:
        """The most prompt tokens a second. None if a rate of the card is not known, or if the model reads no prompt."""
        bound = None if self.prediction is None else self.prediction.prefill.bound
        return None if bound is None else bound * self.copies


def options_of(need: Need, limits: Limits, market: Market, assumptions: Assumptions) -> list[Option]:
    """All ways, also those that are no answer: the cheapest over the horizon first, and those of unknown cost last."""
    question = _Question(need, limits, market, assumptions, Copies(need))
    bought = (option for boards in question.bought() for option in boards.options())
    ways = (*bought, *question.offered(), *question.rented(), *question.without_price())
    return sorted(map(question.with_pictures, ways), key=_place)


def beside_measurements(
    prediction: Prediction, measured: Mapping[str, Measurement], gpu_id: str | None, bandwidth: float
) -> tuple[Rate, Measurement | None]:
    """The rate of writing with regard to measurements of that model and precision, and the card's own measurement if any.

    If a card was not measured, its expected speed is at most the measured speed of any card with more bandwidth: if software
    limited the faster card, it limits this card too. Measurements are of one sequence on one card.
    """
    rate = prediction.decode
    if prediction.job.load.users > 1:
        return rate, None
    own = measured.get(gpu_id or "") if prediction.plan.count == 1 else None
    if own is not None:
        timed = prediction.question.writing()
        held_bound = None if timed is None else timed.bound_of_held_cache
        return with_measurement(rate, own.tokens_per_s, held_bound), own
    faster = [m.tokens_per_s for m in measured.values() if m.bandwidth_gb_s >= bandwidth]
    return (with_ceiling(rate, min(faster)) if faster else rate), None


@dataclass(frozen=True, slots=True)
class _Question:
    """A question to a market: the need, the limits, and the assumptions."""

    need: Need
    limits: Limits
    market: Market
    assumptions: Assumptions
    copies: Copies

    @property
    def busy_hours(self) -> Decimal:
        return costs.hours_of(self.assumptions) * self.assumptions.utilisation

    def completed(self, option: Option, speed: Speed | None, size: tuple[float, float]) -> Option:
        """The option with its speed, its memory (`size`, see _memory), the cost of tokens, and the reasons against these
        in front of its own.
        """
        written_usd, read_usd = per_million(option.total_usd, self.busy_hours, speed, self.need)
        waiting = self.need.waiting(option.chip) if option.chip else ()
        option = option._replace(
            needed_gb=size[0], available_gb=size[1], speed=speed, usd_per_million_tokens=written_usd,
            usd_per_million_read=read_usd, notes=(*waiting, *option.notes),
        )  # fmt: skip
        reasons = (*self.against(option), *self.too_slow(speed), *self.too_much(option))
        return option._replace(against=(*reasons, *option.against))

    def with_pictures(self, option: Option) -> Option:
        """The option with its speed in pictures, measured or by the matrix rate, and the cost of a thousand."""
        model, gpu = self.need.diffusion, self.market.chips.get(option.gpu_id or "")
        if model is None or model.steps is None or gpu is None or not option.fits:
            return option
        published = self.market.pictures if model.is_usual else {}
        measured, rate = published.get(gpu.gpu_id), self.need.made(gpu)
        if measured is None:
            if rate is None or rate.expected is None:
                return option
            # As many steps as in the benchmark, where others were measured: who makes fewer is no faster.
            steps = next((other.iterations for other in published.values()), model.steps)
            low, high = (end and end * model.steps / steps for end in (rate.low, rate.high))
            measured = Pictures(
                gpu_id=gpu.gpu_id, iterations_per_s=rate.expected * model.steps, iterations=steps, workload=None,
                url=None, snapshot_sha256=None, basis=rate.basis, low=low, high=high,
            )  # fmt: skip
        cost = None
        if option.total_usd is not None and self.busy_hours:
            cost = costs.cost_per_thousand_images(option.total_usd, self.busy_hours, measured.per_s * option.gpu_count)
        return option._replace(pictures=measured, usd_per_thousand_images=cost)

    def bought(self) -> Iterator[_Boards]:
        limits, owned = self.limits, dict(self.limits.owned)
        key_of_setups = (
            self.assumptions, limits.country, limits.has_host, limits.slots, limits.owned, limits.machines,
            limits.machine_tax,
        )  # fmt: skip
        setups = self.market.setups.setdefault(key_of_setups, {})
        had = set[tuple[str, bool, int]]()
        for card in (*self.market.cards, *map(self._owned, owned)):
            if not card.memory_gb:
                continue  # nobody knows whether anything fits on it
            gpu = self.chip(card.gpu_id, card.gpu, card.memory_gb, card.bandwidth_gb_s)
            for boards in NODES if self.need.splits else (1,):
                gpus = boards * card.gpus_on_board
                if gpus > MOST_CARDS:
                    continue
                if (boards <= owned.get(card.gpu_id, 0)) != (card.condition == OWNED):
                    continue  # nobody buys what is there, and what is there is not on sale
                number = (card.gpu_id, card.condition == "new", boards)
                if number in had:
                    continue  # for less from the offer before it
                too_few = card.evidence and card.evidence.too_few(boards - owned.get(card.gpu_id, 0))
                if not too_few:
                    had.add(number)
                host = self._host(card, gpu, boards)
                key = (card.gpu_id, card.condition, card.price_usd, boards, host.name if host else "")
                setup = setups.get(key)
                if setup is None:
                    setup = setups[key] = self._setup(card, boards, host)
                if too_few:
                    setup = setup._replace(against=(*setup.against, too_few))
                yield _Boards(self, card, gpu, boards, setup)

    def _owned(self, gpu_id: str) -> Card:
        """A card that the user has, at no price."""
        gpu = self.market.chips[gpu_id]
        return Card(
            gpu_id=gpu_id, gpu=gpu.display_name, condition=OWNED, price_usd=Decimal(0), memory_gb=gpu.memory_gb,
            bandwidth_gb_s=gpu.memory_bandwidth_gb_s, tdp_w=gpu.tdp_w and round(gpu.tdp_w),
            gpus_on_board=gpu.gpus_on_board, value_kept=None,
            history_years=None, evidence=None,
        )  # fmt: skip

    def _host(self, card: Card, gpu: Gpu, boards: int) -> Host | None:
        """The machine for the boards. It needs memory for what stays with the processor, if anything may stay there."""
        if self.need.offload == "none":
            return host_for(gpu, boards, card.tdp_w)
        gpus = boards * card.gpus_on_board
        return host_with_room(
            gpu, boards, card.tdp_w, lambda host: self.need.on(gpu, gpus, host.memory(self.assumptions))
        )

    def _setup(self, card: Card, boards: int, host: Host | None) -> Setup:
        bought = None
        if card.tdp_w is not None:
            long_enough = card.history_years is not None and card.history_years * 2 >= float(
                self.assumptions.horizon_years
            )
            kept = card.value_kept if long_enough else None
            assumed = with_value_kept(self.assumptions, kept, is_new=card.condition == "new")
            there = min(boards, dict(self.limits.owned).get(card.gpu_id, 0))
            machine = self._around(False, host)._replace(cards=there)
            bought = costs.Bought(card.price_usd, card.tdp_w, boards, machine, assumed)
        own, watts = bought.ownership() if bought else None, (card.tdp_w or 0) * boards
        no_place: tuple[Message, ...] = ()
        if host is None:
            no_place = (Message(NO_MACHINE, boards=boards, watts=watts),)
        elif self.limits.has_host and boards > self.limits.slots and host.lanes:
            no_place = (Message(TOO_FEW_SLOTS, boards=boards, slots=self.limits.slots),)
        is_machine = host is not None and host.slot is None  # its price is all that is paid on day one
        unknown = () if is_machine else _without_power(own)
        return Setup(host, own, bought, (*unknown, *no_place), self._power(card, boards, host))

    def _power(self, card: Card, boards: int, host: Host | None) -> tuple[Message, ...]:
        """A note if the machine draws more than an outlet gives."""
        if card.tdp_w is None or host is None:
            return ()
        watts = costs.wall_watts(card.tdp_w, boards, self.assumptions, busy=True, host_w=host.power_w(self.assumptions))
        outlet = outlet_watts(self.limits.country)
        return (Message(
            "draws {watts:,.0f} W; an ordinary outlet gives {outlet:,} W", watts=watts, outlet=outlet,
        ),) if watts > outlet else ()  # fmt: skip

    def offered(self) -> Iterator[Option]:
        """Servers, laptops and lots as shops offer them. The price is for the whole, for a machine with its host."""
        for node in self.market.nodes:
            if not node.memory_gb or node.gpus > MOST_CARDS:
                continue  # nobody knows whether anything fits on it
            gpu = self.chip(node.gpu_id, node.gpu, node.memory_gb, node.bandwidth_gb_s)
            host = host_for(
                gpu, max(1, round(node.gpus / gpu.gpus_on_board)), node.tdp_w and round(node.tdp_w / node.gpus)
            )
            bought = None
            if node.tdp_w is not None:
                machine = self._around(node.is_machine, host)
                assumed = with_value_kept(self.assumptions, None, is_new=node.condition == "new")
                bought = costs.Bought(node.price_usd, node.tdp_w, 1, machine, assumed)
            own = bought.ownership() if bought else None
            prediction = self.need.on(
                gpu, node.gpus, None if node.is_machine or host is None else host.memory(self.assumptions)
            )
            option = Option(
                way="buy", condition=node.condition, what=f"{node.kind}: {node.title}", gpu_id=node.gpu_id,
                gpu=node.gpu if node.gpus == 1 else f"{node.gpus} × {node.gpu}", gpu_count=node.gpus, prediction=prediction,
                price_usd=node.price_usd, outlay_usd=own.day_one if own else node.price_usd, own=own,
                total_usd=own.total if own else None, evidence=node.evidence, bought=bought, chip=gpu,
                against=(
                    *self.undivided(prediction), *self.unsupported(gpu),
                    *(() if memory_kind(gpu) == "shared" else _without_power(own)),
                ),
            )  # fmt: skip
            speed = self.speed(prediction, gpu, node.gpus, node.bandwidth_gb_s)
            yield self.completed(option, speed, _memory(self.need, gpu, node.gpus, prediction))

    def _around(self, is_machine: bool, host: Host | None) -> costs.Machine:
        """The machine around the cards of an offer. The price of a machine includes it, and a lot needs one as single cards
        do.

        If hosts.toml has no machine for the cards, the machine of the offer is assumed to draw as much as a desktop.
        """
        host = host or hosts()[0]
        machine = host.around(self.assumptions)
        is_there = is_machine or self.limits.has_machine(host)
        return machine._replace(usd=Decimal(0) if is_there else machine.usd * (1 + self.limits.machine_tax))

    def without_price(self) -> Iterator[Option]:
        """What no shop here sells: machines with shared memory, and more of a card that the user has. Whether it runs the
        model and how fast, but no cost.
        """
        for gpu, boards in (*((machine, 1) for machine in self.market.machines), *self._more_of_owned()):
            gpus = boards * gpu.gpus_on_board
            prediction = self.need.on(gpu, gpus)
            speed = self.speed(prediction, gpu, gpus, gpu.memory_bandwidth_gb_s)
            if speed is None:
                continue  # a name with neither price nor speed helps nobody to choose
            note = self.market.unpriced.get(gpu.gpu_id) or Message(
                "no shop's price is known here: a quote in the inbox gives it one"
            )
            if gpu.gpu_id not in self.market.unpriced and gpu.msrp_usd is not None and boards == 1:
                note = Message(
                    "no shop's price is known here: a quote in the inbox gives it one; its maker asked {price} when "
                    "it came out", price=Sum(gpu.msrp_usd),
                )  # fmt: skip
            option = Option(
                way="buy", what=_named(gpu.display_name, gpu, boards), gpu_id=gpu.gpu_id,
                gpu=gpu.display_name, gpu_count=gpus, prediction=prediction, host=host_for(gpu, boards, gpu.tdp_w),
                against=self.unsupported(gpu), notes=(note,), chip=gpu,
            )  # fmt: skip
            yield self.completed(option, speed, _memory(self.need, gpu, gpus, prediction))

    def _more_of_owned(self) -> Iterator[tuple[Gpu, int]]:
        """The least number of a card that holds the model, if the user has fewer and nobody sells one."""
        sold = {card.gpu_id for card in self.market.cards}
        for gpu_id, count in self.limits.owned if self.need.splits else ():
            gpu = self.market.chips[gpu_id]
            numbers = (boards for boards in NODES if boards > count and boards * gpu.gpus_on_board <= MOST_CARDS)
            needed = (b for b in numbers if self.need.needed_bytes(b) <= self.need.usable_bytes(gpu, b))
            boards = next(needed, None) if gpu_id not in sold and gpu.memory_gb else None
            if boards is not None and host_for(gpu, boards, gpu.tdp_w and round(gpu.tdp_w)):
                yield gpu, boards

    def rented(self) -> Iterator[Option]:
        for rental in self.market.instances:
            gpu = self.chip(rental.gpu_id, rental.gpu, rental.memory_gb, rental.bandwidth_gb_s)
            total = costs.rent_usd(rental.hour_usd, rental.pricing_model, self.assumptions)
            prediction = self.need.on(gpu, rental.gpu_count) if rental.gpu_count <= MOST_CARDS else None
            place = " ".join(filter(None, [rental.provider, rental.instance, rental.region]))
            gpus = rental.gpu if rental.gpu_count == 1 else f"{rental.gpu_count} × {rental.gpu}"
            option = Option(
                way=rental.pricing_model, what=f"{gpus} at {place}", gpu_id=rental.gpu_id, gpu=rental.gpu,
                gpu_count=rental.gpu_count, prediction=prediction, price_usd=rental.hour_usd, outlay_usd=total,
                total_usd=total, evidence=rental.evidence, chip=gpu,
                against=(*self.unsupported(gpu), *self.undivided(prediction)),
            )  # fmt: skip
            speed = self.speed(prediction, gpu, rental.gpu_count, rental.bandwidth_gb_s)
            yield self.completed(option, speed, _memory(self.need, gpu, rental.gpu_count, prediction))

    def unsupported(self, gpu: Gpu) -> tuple[Message, ...]:
        reason = self.need.against(gpu)
        return () if reason is None else (reason,)

    def chip(self, gpu_id: str | None, name: str, memory_gb: float, bandwidth: float | None) -> Gpu:
        known = self.market.chips.get(gpu_id or "")
        if known is not None:
            return known
        return Gpu(gpu_id=gpu_id or "", vendor="", name=name, memory_gb=memory_gb, memory_bandwidth_gb_s=bandwidth)

    def undivided(self, prediction: Prediction | None) -> tuple[Message, ...]:
        """The reason against a number of cards that a server for many users refuses, as it divides every layer."""
        if prediction is None or self.need.users == 1 or prediction.plan.count == 1:
            return ()
        if prediction.split == prediction.plan.engine.split:
            return ()
        return (Message(HEADS_NOT_DIVIDED, engine=prediction.plan.engine.name, cards=prediction.plan.count),)

    def speed(self, prediction: Prediction | None, gpu: Gpu, count: int, bandwidth: float | None) -> Speed | None:
        """The speed of an option, in reading for what only reads. None if it is not in tokens or the bandwidth not known."""
        trained = self.need.trained(gpu, count)
        if trained is not None:
            return Speed(rate=trained, each=trained.expected or 0.0, verdict=None, measured=None, serving=None)
        if prediction is not None and self.need.reads_only and prediction.prefill.expected:
            rate = prediction.prefill  # one text after another, whoever sent it
            return Speed(rate, rate.expected or 0.0, verdict=None, measured=None, serving=None)
        if prediction is None or prediction.decode.expected is None or not bandwidth:
            return None
        rate, own = beside_measurements(prediction, self.market.measured, gpu.gpu_id, bandwidth)
        verdict = None
        if own is not None:
            # By the bandwidth alone, of one sequence whose cache is still empty.
            bound = bandwidth * 1e9 / prediction.job.size.read_bytes(1)
            verdict = verdict_on(own.tokens_per_s, bound, self.assumptions)
        served = serving(prediction, self.need.answer_tokens)
        each = (rate.expected or 0.0) / prediction.job.load.users
        if served is not None and self.need.users > 1:
            each = served.each_tokens_per_s
        return Speed(rate=rate, each=each, verdict=verdict, measured=own, serving=served)

    def against(self, option: Option) -> tuple[Message, ...]:
        """The reasons against the memory and the price. What holds a model of text only just is no answer either: the next
        driver or a longer prompt may not fit.
        """
        limits, reasons, needed, available = self.limits, list[Message](), option.needed_gb, option.available_gb
        is_of_text = self.need.job is not None and self.need.offload == "none" and option.condition != OWNED
        is_tight = self.assumptions.free_memory_share and memory.verdict(needed, available) == "tight"
        if not option.fits:
            reasons.append(Message("needs {needed:.1f} GB and has {available:.1f}", needed=needed, available=available))
        elif is_of_text and is_tight:
            reasons.append(Message(TIGHT, needed=needed, available=available, least=memory.TIGHT_SHARE))
        cards = option.price_usd if option.way == "buy" else None
        paid = cards if limits.for_cards and cards is not None else option.outlay_usd
        if limits.budget is not None and paid is None:
            reasons.append(Message("its price is not known, so whether the budget buys it is not"))
        elif limits.budget is not None and paid is not None and limits.currency.of(paid) > limits.budget:
            budget = Sum(limits.budget * Decimal(limits.currency.usd))
            is_day_one = cards is not None and not limits.for_cards
            reasons.append(Message(
                "costs {price} on day one, over the budget of {budget}" if is_day_one
                else "costs {price}, over the budget of {budget}",
                price=Sum(paid), budget=budget,
            ))  # fmt: skip
        return tuple(reasons)

    def too_slow(self, speed: Speed | None) -> tuple[Message, ...]:
        """The reasons against the speed."""
        least = self.limits.min_tokens_per_s
        if least is None:
            return ()
        if speed is None:
            return (Message(SPEED_UNKNOWN),)
        if speed.each >= least:
            return ()
        if speed.rate.basis == "measured":
            return (Message(TOO_SLOW_AS_MEASURED, speed=speed.each, least=least),)
        return (Message(TOO_SLOW, speed=speed.each, bound=speed.bound, least=least),)

    def too_much(self, option: Option) -> tuple[Message, ...]:
        """The reason against an option that does not do what is asked in the hours in which it is on."""
        if self.limits.tokens_per_month is None and self.limits.speech_hours_per_day is None:
            return ()
        hours, on = busy_hours(option, self.need, self.limits), float(self.assumptions.hours_per_day)
        if hours is None:
            return (Message(SPEED_UNKNOWN),)
        if hours <= on:
            return ()
        return (Message(TOO_MUCH, hours=hours, on=on),)


def per_million(
    total: Decimal | None, busy_hours: Decimal, speed: Speed | None, need: Need
) -> tuple[Decimal | None, Decimal | None]:
    """Dollars for a million tokens written, and for a million read. With one user, writing bears all of the cost."""
    if total is None or not busy_hours or speed is None or speed.expected <= 0:
        return None, None
    served, share, rate, read_usd = speed.serving, Decimal(1), speed.expected, None
    why = Message("all of it is put on what is written, for one user")
    if need.users > 1 and served is not None and need.job is not None:
        share = 1 - Decimal(str(served.read_share))
        why = Message("the part of the time in which is written ({read_share:.1%})", read_share=share)
        rate = served.all_tokens_per_s
        read_rate = rate * need.job.load.prompt / need.answer_tokens
        read_usd = costs.cost_per_million_tokens(total * (1 - share), busy_hours, read_rate)
    written_usd = costs.cost_per_million_tokens(total * share, busy_hours, rate)
    return shown("a million tokens written", written_usd, "USD", lambda: both(
        why, assumed(need.assumptions, "utilisation"),
    )), read_usd  # fmt: skip


def busy_hours(option: Option, need: Need, limits: Limits) -> float | None:
    """The hours a day that the tokens or the speech of the limits take. None if nothing is asked or the speed not known."""
    if limits.speech_hours_per_day is not None and option.heard is not None:
        return limits.speech_hours_per_day / float(option.heard.values["times"])
    speed, tokens = option.speed, limits.tokens_per_month
    if tokens is None or speed is None or not speed.expected:
        return None
    rate = speed.serving.all_tokens_per_s if speed.serving else speed.expected
    days = costs.DAYS_A_YEAR / 12
    share = 1.0 if need.reads_only else need.answer_tokens / sum(need.request)
    return tokens * share / rate / costs.SECONDS_AN_HOUR / float(days)


class _Boards(NamedTuple):
    """A number of boards of a card in a machine: one option, and a second one if several copies of the model are faster."""

    question: _Question
    card: Card
    gpu: Gpu
    boards: int
    setup: Setup

    @property
    def gpus(self) -> int:
        return self.boards * self.card.gpus_on_board

    @property
    def there(self) -> int:
        """How many of the boards the user has."""
        return min(self.boards, dict(self.question.limits.owned).get(self.card.gpu_id, 0))

    @property
    def price(self) -> Decimal:
        """The price of the boards that are bought."""
        return self.card.price_usd * (self.boards - self.there)

    @property
    def outlay(self) -> Decimal:
        return self.setup.own.day_one if self.setup.own else self.price

    def options(self) -> Iterator[Option]:
        return map(self._option, self._ways())

    def _ways(self) -> tuple[int, ...]:
        """The numbers of copies: 1, and the number that serves each user fastest if that is faster than one copy."""
        ways = [(_each(self._of_one(copies)), copies) for copies in self.question.copies.on(self.gpu, self.gpus)]
        if not ways:
            return (1,)
        each, copies = max(ways, key=lambda way: way[0])
        return (1, copies) if each > _each(self._of_one(1)) * HARDLY_FASTER else (1,)

    def _prediction(self, copies: int) -> Prediction | None:
        """The prediction for the cards of one of `copies` copies."""
        need, host = self.question.copies.of(copies), self.setup.host
        # One card alone uses neither the memory nor the slots.
        alone = need.offload == "none" and self.gpus == copies
        return need.on(
            self.gpu, self.gpus // copies, None if host is None or alone else host.memory(self.question.assumptions)
        )

    def _of_one(self, copies: int) -> Speed | None:
        """The speed of one of `copies` copies, which is the speed that a user sees."""
        return self.question.speed(self._prediction(copies), self.gpu, self.gpus, self.card.bandwidth_gb_s)

    def _memory(self, copies: int) -> tuple[float, float]:
        """GB that all copies need, and GB that the cards have for them."""
        need = self.question.copies.of(copies)
        # A prediction is needed here only for what stays with the processor.
        prediction = None if need.offload == "none" else self._prediction(copies)
        needed, available = _memory(need, self.gpu, self.gpus // copies, prediction)
        return needed * copies, available * copies

    def _option(self, copies: int) -> Option:
        question, card, setup, gpus = self.question, self.card, self.setup, self.gpus
        prediction = self._prediction(copies)
        what = _named(card.gpu, self.gpu, self.boards)
        notes = _offloaded(prediction)
        if 0 < self.there < self.boards:
            notes = (Message("{count} of them you have", count=self.there), *notes)
        if copies > 1:
            each, users = gpus // copies, question.copies.of(copies).users
            what = f"{self.boards} × {card.gpu} ({copies} × {each})"
            notes = (
                *notes,
                Message(
                    "{copies} copies of the model, each on {cards} of the GPUs and for {users} at once", copies=copies,
                    cards=each, users=users,
                ),
            )  # fmt: skip
        heard = pieces.heard(self.gpu, question.need.job.shape) if question.need.job else ()
        option = Option(
            way="buy", condition=card.condition, what=what, gpu_id=card.gpu_id, gpu=card.gpu, gpu_count=gpus,
            prediction=prediction, price_usd=self.price, outlay_usd=self.outlay,
            total_usd=setup.own.total if setup.own else None, host=setup.host, own=setup.own, evidence=card.evidence,
            against=(*setup.against, *question.unsupported(self.gpu), *question.undivided(prediction)),
            notes=(*notes, *heard, *setup.notes), bought=setup.bought, copies=copies, chip=self.gpu,
        )  # fmt: skip
        speed = self._of_one(copies)
        if copies > 1 and speed is not None:
            speed = _together(speed, question.need.users / question.copies.of(copies).users)
        return question.completed(option, speed, self._memory(copies))


def _named(name: str, gpu: Gpu, boards: int) -> str:
    """`2 × NVIDIA GeForce RTX 3090`, and a whole computer as it is sold: `Mac mini, M6, 32 GB`."""
    if boards > 1:
        return f"{boards} × {name}"
    computer = computers().get(gpu.chip or "")
    chip = gpu.name.removesuffix(f" {gpu.memory_gb:g}GB")
    return name if computer is None else f"{computer}, {chip}, {gpu.memory_gb:g} GB"


def _place(option: Option) -> tuple[bool, bool, bool, Decimal, int, str]:
    """The key that orders options: known costs first, of these what is there already and what has no old price, then by
    cost, by the number of GPUs and by name.
    """
    is_behind = option.evidence is not None and option.evidence.is_behind
    total = option.total_usd
    return total is None, option.condition != OWNED, is_behind, total or Decimal(0), option.gpu_count, option.what


def _memory(need: Need, gpu: Gpu, gpus: int, prediction: Prediction | None) -> tuple[float, float]:
    """GB (10^9 bytes) that the model needs, and GB that `gpus` GPUs have for it."""
    if prediction is not None:
        return prediction.needed / 1e9, prediction.usable / 1e9
    together = gpus if need.splits else 1
    return need.needed_bytes(together) / 1e9, need.usable_bytes(gpu, together) / 1e9


def _each(speed: Speed | None) -> float:
    """The speed that each user sees, 0 if it is not known."""
    return 0.0 if speed is None else speed.each


def _together(speed: Speed, times: float) -> Speed:
    """The speed of all copies, which serve `times` times the users of one copy. Each user sees the speed of one copy."""
    rate, served = speed.rate, speed.serving
    expected, low, high, bound = (
        figure if figure is None else figure * times for figure in (rate.expected, rate.low, rate.high, rate.bound)
    )
    of_all = served if served is None else served._replace(all_tokens_per_s=served.all_tokens_per_s * times)
    return speed._replace(rate=Rate(expected, low, high, bound, rate.basis), serving=of_all)


def _offloaded(prediction: Prediction | None) -> tuple[Message, ...]:
    """A note on what stays with the processor, if anything does."""
    if prediction is None or prediction.moved is None:
        return ()
    moved = prediction.moved
    return (Message(
        "the experts of {layers} of {all} layers, {size:.1f} GB, stay with the processor: nobody measured how fast it "
        "reads them" if moved.what == "experts"
        else "{layers} of {all} layers, {size:.1f} GB, stay with the processor: nobody measured how fast it reads them",
        layers=moved.layers, all=moved.of_layers, size=moved.size / 1e9,
    ),)  # fmt: skip


def _without_power(own: costs.Ownership | None) -> tuple[Message, ...]:
    return (Message("its power is not known, so its cost is not"),) if own is None else ()
