"""Answers a question of each night: does a card or an instance cost less over the horizon, and how sure is that?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from gpuledger.transform.assumptions import Assumptions, Number, settings, with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.costs import RentVsBuy
from gpuledger.transform.buying.hosts import Host

HALF = Decimal("0.5")

#: The changed value of one setting, and all settings with this change.
_Moved = tuple[Number, Assumptions]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The answers at a lower and a higher value of one setting, with all other settings unchanged.

    `low_value` and `high_value` are the values that were really used: a value beyond the setting's bounds is replaced by the
    bound. An answer is None if the question has no answer at that value (a break-even that never comes).
    """

    name: str
    low_value: Number
    low_answer: Decimal | None
    answer: Decimal | None
    high_value: Number
    high_answer: Decimal | None

    @property
    def swing(self) -> Decimal:
        """The distance between the two answers, 0 if one of them does not exist."""
        if self.low_answer is None or self.high_answer is None:
            return Decimal(0)
        return abs(self.high_answer - self.low_answer)


def sensitivity(
    question: Callable[[Assumptions], Decimal | None],
    assumptions: Assumptions,
    names: Iterable[str] | None = None,
    *,
    share: Decimal = HALF,
) -> list[Sensitivity]:
    """The answers to `question` with each setting lowered and raised by `share` of its value, the widest swing first.

    `names` are the settings to try, None for all. Settings that do not change the answer are left out.
    """
    answer = question(assumptions)
    effects = []
    for name in names if names is not None else settings():
        (low_value, lower), (high_value, higher) = _both_ways(assumptions, name, share)
        low, high = question(lower), question(higher)
        if low != answer or high != answer:
            effects.append(Sensitivity(name, low_value, low, answer, high_value, high))
    return sorted(effects, key=lambda item: (-item.swing, item.name))


# Cached, because creating assumptions checks all of them, which takes longer than a question does, and many questions use
# the same assumptions.
@lru_cache(maxsize=256)
def _both_ways(assumptions: Assumptions, name: str, share: Decimal) -> tuple[_Moved, _Moved]:
    lower, higher = (_moved(assumptions, name, factor) for factor in (1 - share, 1 + share))
    return (lower, _replaced(assumptions, name, lower)), (higher, _replaced(assumptions, name, higher))


def _moved(assumptions: Assumptions, name: str, factor: Decimal) -> Number:
    """The setting times `factor`, kept within its bounds and of its own type."""
    setting, value = settings()[name], getattr(assumptions, name)
    moved = Decimal(str(value)) * factor
    bounded = max(Decimal(str(setting.low)), min(Decimal(str(setting.high)), moved))
    kind: type[int] | type[float] | type[Decimal] = type(value)
    return kind(bounded)


def _replaced(assumptions: Assumptions, name: str, value: Number) -> Assumptions:
    # mypy cannot see that `name` is a field and that `value` has the type of this field.
    return dataclasses.replace(assumptions, **{name: value})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A number of equal cards or one machine, and an instance that costs `hour_usd` an hour under `pricing_model`.

    Each of the cards costs `price_usd` and draws `tdp_w` watts. `host` is the machine for the cards, None for the desktop of
    the assumptions; with `is_machine` the price includes it, and the watts are those of all cards in it. `value_kept` is the
    observed share of its price that the card keeps each year, None if the price history is too short.
    """

    price_usd: Decimal
    tdp_w: int
    cards: int
    hour_usd: Decimal
    pricing_model: str
    value_kept: Decimal | None = None
    host: Host | None = None
    is_machine: bool = False


@dataclass(frozen=True, slots=True)
class Moved:
    """How one assumption changes the two answers: the hours until owning pays, and the dollars that owning saves."""

    break_even: Sensitivity
    saving: Sensitivity

    @property
    def flips(self) -> bool:
        """Whether the lower or the higher value of the assumption changes which way is cheaper."""
        answers = (self.saving.low_answer, self.saving.answer, self.saving.high_answer)
        return len({answer > 0 for answer in answers if answer is not None}) > 1


def compare(pair: Pair, assumptions: Assumptions) -> RentVsBuy:
    """Compares owning with renting over the horizon. Raises costs.ImpossibleCost, ImpossibleAssumption."""
    return _compare(pair, with_value_kept(assumptions, pair.value_kept))


def moves(pair: Pair, assumptions: Assumptions) -> dict[str, Moved]:
    """How the answers change if each assumption changes by half, by its name. Only assumptions that change something."""
    assumed = with_value_kept(assumptions, pair.value_kept)
    savings = sensitivity(lambda a: _saving(_compare(pair, a)), assumed)
    hours = {s.name: s for s in sensitivity(lambda a: _compare(pair, a).break_even_hours, assumed)}
    stays = _compare(pair, assumed).break_even_hours
    # Some assumptions, such as the hours a day, do not change the break-even. It then stays as it is, instead of being None.
    return {
        s.name: Moved(hours.get(s.name) or Sensitivity(s.name, s.low_value, stays, stays, s.high_value, stays), s)
        for s in savings
    }


def _compare(pair: Pair, assumptions: Assumptions) -> RentVsBuy:
    rent = costs.rent_per_used_hour(pair.hour_usd, pair.pricing_model, assumptions)
    machine = None if pair.host is None else pair.host.around(assumptions)
    if machine is not None and pair.is_machine:
        machine = machine._replace(usd=Decimal(0))
    own = costs.ownership(pair.price_usd, pair.tdp_w, assumptions, count=pair.cards, machine=machine)
    return costs.rent_vs_buy(own, rent)


def _saving(answer: RentVsBuy) -> Decimal:
    return answer.rent - answer.own.total
