"""Which of the answers are recommended: at most three, and the order of all others behind them.

With a budget the fastest comfortable one within it is bought, without one the cheapest. Of 134 picks of published guides
half are the fastest that fits, and hardly any the cheapest that suffices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.choosing.comfort import gravity, noticed_speed, paid
from gpuledger.transform.buying.options import OWNED, Option
from gpuledger.transform.buying.question import Order
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.engines import engines

#: The least part of the price by which the pick for less is cheaper. Less is no reason to take something slower.
_SAVED = Decimal("0.05")


class Picks(NamedTuple):
    """What is recommended: the one to buy (or to rent), one for less money, and one in the other condition."""

    first: Option
    for_less: Option | None
    other: Option | None

    def all(self) -> list[Option]:
        """The picks, the one to buy first."""
        return [pick for pick in self if pick is not None]


class Ranked(NamedTuple):
    """An answer with its place among others, as Choice says: the least is the best."""

    rank: tuple[Any, ...]
    option: Option

    @property
    def gravity(self) -> tuple[bool, bool, int, int, int]:
        """How much speaks against it, as comfort.gravity says."""
        gravity: tuple[bool, bool, int, int, int] = self.rank[1]
        return gravity


class Choice(NamedTuple):
    """How is chosen: by the rules of the assumptions, within a budget or without one."""

    assumptions: Assumptions
    has_budget: bool

    def picks(self, answers: Sequence[Option]) -> Picks | None:
        """The picks, None if no answer has a price. Only what is comfortable is picked, if anything is."""
        ranked = self.ranked(answers)
        return self.of_alike(self.alike(ranked)) if ranked else None

    def ranked(self, answers: Sequence[Option]) -> list[Ranked]:
        """The answers that have a price, the best first, each with its rank."""
        ranks = (Ranked(self._by_comfort(option), option) for option in answers if option.outlay_usd is not None)
        return sorted(ranks, key=lambda one: one.rank)

    @staticmethod
    def alike(ranked: Sequence[Ranked]) -> list[Ranked]:
        """Of some of the answers that `ranked` gave, in its order, those among which is picked: as little speaks against
        them as against the best, and they are bought or rented as that is.
        """
        best = ranked[0].rank
        return [one for one in ranked if one.rank[:3] == best[:3] and one.rank[4] <= best[4]]

    def of_alike(self, ranked: Sequence[Ranked]) -> Picks:
        """The picks of what `alike` gave."""
        alike = [one.option for one in ranked]
        is_there = alike[0].condition == OWNED
        first = alike[0] if is_there else self._preferred(self._stepped(alike) if self.has_budget else alike[0], alike)
        cheaper = [one for one in alike if self._saves(one, first)]
        for_less = min(cheaper, key=lambda one: (paid(one, self.assumptions), -one.each_a_second), default=None)
        if first.way != "buy" or first.condition == OWNED:
            return Picks(first, for_less, None)
        is_new = first.condition == "new"
        most = Decimal(str(1 - self.assumptions.used_saves_share if is_new else self.assumptions.room_cost))
        others = (one for one in alike if one is not for_less and (one.condition == "new") != is_new)
        within = (one for one in others if paid(one, self.assumptions) <= paid(first, self.assumptions) * most)
        return Picks(first, for_less, next(within, None))

    def _saves(self, option: Option, first: Option) -> bool:
        """Whether an option is cheaper than the first, by what is asked and by what counts for what may have risen."""
        costs = ((paid(one, self.assumptions), one.outlay_usd or Decimal(0)) for one in (option, first))
        return all(less < most * (1 - _SAVED) for less, most in zip(*costs, strict=True))

    def ordered(self, answers: Sequence[Option], best: Picks | None, order: Order) -> list[Option]:
        """All answers as `order` says, those without a price last. In the usual order the picks come first."""
        if order != "picks":
            return sorted(answers, key=_ORDERS[order])
        first = [] if best is None else best.all()
        rest = (option for option in answers if not any(option is pick for pick in first))
        return [*first, *sorted(rest, key=self._by_comfort)]

    def _by_comfort(self, option: Option) -> tuple[Any, ...]:
        """The key that puts what is comfortable first, what is bought before what is rented, and what is there before all.

        With a budget then comes what has room to grow, and of that the fastest; of what is fast enough that with most
        memory, up to what is enough. Of equals, without a budget, and of what has more memory than makes sense, the
        cheapest comes first, and of equal prices the fastest.
        """
        is_large = self.has_budget and self._is_too_large(option)
        best = (
            (self._is_tight(option), -noticed_speed(option, self.assumptions), -round(self._worth(option)))
            if self.has_budget and not is_large
            else ()
        )
        is_there = option.condition == OWNED
        return (
            option.outlay_usd is None, gravity(option), option.way != "buy", not is_there, is_large, *best,
            paid(option, self.assumptions), -option.each_a_second,
        )  # fmt: skip

    def _is_too_large(self, option: Option) -> bool:
        """Whether it has more memory than is bought for this need. A card with room for the next model never has."""
        if not self.assumptions.most_memory or option.condition == OWNED:
            return False
        is_least = (
            option.chip is not None
            and (option.chip.memory_gb or 0) * option.gpu_count <= self.assumptions.least_card_gb
        )
        return not is_least and option.available_gb > option.needed_gb / option.copies * self.assumptions.most_memory

    def _stepped(self, best: Sequence[Option]) -> Option:
        """The fastest, unless a step up to it, or to room to grow (`room_cost`), is vain."""
        dearer = sorted(enumerate(best), key=lambda one: paid(one[1], self.assumptions))
        place, first = dearer[0]
        for better, option in dearer[1:]:
            if better < place and not self._is_vain(option, first):
                place, first = better, option
        return first

    def _preferred(self, first: Option, best: Sequence[Option]) -> Option:
        """Instead of the first one as good that more programs run on, if that costs little more (`software_cost`); then a
        new one, if a used one saves too little (`used_saves_share`).
        """
        known = self.assumptions
        most = paid(first, known) * Decimal(str(known.software_cost))
        alike = (
            option
            for option in best
            if paid(option, known) <= most and self._is_as_good(option, first, known.step_gain)
        )
        first = max(alike, key=lambda option: (_programs(option.chip), option is first), default=first)
        if first.condition in ("new", OWNED) or first.price_usd is None:
            return first
        new = [
            option
            for option in best
            if option.condition == "new"
            and (option.price_usd or 0) * (1 - Decimal(str(known.used_saves_share))) <= first.price_usd
            and _programs(option.chip) >= _programs(first.chip)
            and self._is_as_good(option, first, known.step_gain)
        ]
        return max(new, key=lambda option: option.each_a_second, default=first)

    def _is_vain(self, step: Option, first: Option) -> bool:
        """Whether a step up costs more and gains less than `step_gain` (a part of it below `step_cost`), each of several
        cards as much.

        A step that gains room to grow alone may cost up to `room_cost` times as much, one that gains memory and no speed at
        all up to `step_cost`; memory is no reason for more cards. One from a price of late to a stale one must gain as much
        as that may have risen.
        """
        known, gains_room = self.assumptions, self._is_tight(first) > self._is_tight(step)
        times = float(paid(step, known) / paid(first, known)) if paid(first, known) else 1.0
        if noticed_speed(first, known) * known.step_gain > noticed_speed(step, known):
            is_dear = times > known.step_cost and step.each_a_second < first.each_a_second * known.step_gain
            if gains_room:
                return times > known.room_cost
            if step.gpu_count > first.gpu_count or is_dear:
                return True
        elif gains_room:
            return False
        part = min(1.0, (times - 1) / (known.step_cost - 1))
        gain = 1 + (known.step_gain - 1) * part * step.gpu_count
        if step.may_have_risen and not first.may_have_risen:
            gain = max(gain, known.stale_price_rise)
        if step.gpu_count > first.gpu_count:
            return part >= known.step_part and noticed_speed(first, known) * gain > noticed_speed(step, known)
        return part >= known.step_part and self._is_as_good(first, step, gain)

    def _is_as_good(self, option: Option, first: Option, gain: float) -> bool:
        """Whether the first is less than `gain` times as fast as an option, and has no memory of a larger class."""
        is_as_large = self._worth(option) * self.assumptions.step_memory > self._worth(first)
        return is_as_large and noticed_speed(option, self.assumptions) * gain > noticed_speed(first, self.assumptions)

    def _is_tight(self, option: Option) -> bool:
        """Whether a model of text leaves little memory for a longer context or the next model (`roomy_memory_gb`)."""
        is_text = option.prediction is not None and option.pictures is None
        return is_text and option.available_gb - option.needed_gb < self.assumptions.roomy_memory_gb

    def _worth(self, option: Option) -> float:
        """The GB of an option, at most as many as are enough for this need."""
        return min(option.available_gb, option.needed_gb * self.assumptions.enough_memory or option.available_gb)


@functools.cache
def _programs(chip: Gpu | None) -> int:
    """How many of the programs that we know run on a card."""
    return sum(engine.runs_on(chip, "") for engine in engines().values()) if chip else 0


_ORDERS: Mapping[Order, Callable[[Option], Any]] = MappingProxyType(
    {
        "total": lambda option: (option.total_usd is None, option.total_usd or 0),
        "day-one": lambda option: (option.outlay_usd is None, option.outlay_usd or 0),
        "speed": lambda option: -option.each_a_second,
        "memory": lambda option: -option.available_gb,
    }
)
