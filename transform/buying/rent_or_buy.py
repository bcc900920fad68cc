"""Answers a question of each night: does a card or an instance cost less over the horizon, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gpuledger.transform.assumptions import Assumptions, with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.costs import RentVsBuy
from gpuledger.transform.buying.hosts import Host
from gpuledger.transform.buying.sensitivity import Sensitivity, sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A number of equal cards, and an instance that costs `hour_usd` an hour under `pricing_model`.

    Each of the cards costs `price_usd` and draws `tdp_w` watts. `host` is the machine for the cards, None for the desktop of
    the assumptions. `value_kept` is the observed share of its price that the card keeps each year, None if the price history
    is too short.
    """

    price_usd: Decimal
    tdp_w: int
    cards: int
    hour_usd: Decimal
    pricing_model: str
    value_kept: Decimal | None = None
    host: Host | None = None


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
    machine = None if pair.host is None else around(pair.host, assumptions)
    own = costs.ownership(pair.price_usd, pair.tdp_w, assumptions, count=pair.cards, machine=machine)
    return costs.rent_vs_buy(own, rent)


def around(host: Host, assumptions: Assumptions) -> costs.Machine:
    """The machine around the cards."""
    return costs.Machine(host.full_usd(assumptions), host.power_w(assumptions), host.share(assumptions))


def _saving(answer: RentVsBuy) -> Decimal:
    return answer.rent - answer.own.total
