"""The question of each night for one card and one instance: which costs less over the horizon, and how sure is that?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gpuledger.transform.assumptions import Assumptions, kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.costs import RentVsBuy
from gpuledger.transform.buying.hosts import Host
from gpuledger.transform.buying.sensitivity import Sensitivity, sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """`cards` cards of `price_usd` and `tdp_w` each, and an instance of `hour_usd` an hour under `pricing_model`.

    `host` is the machine that they go into, None for the desktop that the assumptions describe. `value_kept` is what the
    card was seen to keep of its price a year, None where that is not known for long enough.
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
    """How one assumption moves the two answers: hours until owning pays, and dollars that owning saves."""

    break_even: Sensitivity
    saving: Sensitivity

    @property
    def flips(self) -> bool:
        """Whether the cheaper way is another one at the lower or the higher value."""
        answers = (self.saving.low_answer, self.saving.answer, self.saving.high_answer)
        return len({answer > 0 for answer in answers if answer is not None}) > 1


def compare(pair: Pair, assumptions: Assumptions) -> RentVsBuy:
    """Owning against renting over the horizon. Raises costs.ImpossibleCost, ImpossibleAssumption."""
    return _compare(pair, kept(assumptions, pair.value_kept))


def moves(pair: Pair, assumptions: Assumptions) -> dict[str, Moved]:
    """How the answers move when each assumption moves by half, by its name; those that move nothing are left out."""
    assumed = kept(assumptions, pair.value_kept)
    savings = sensitivity(lambda a: _saving(_compare(pair, a)), assumed)
    hours = {s.name: s for s in sensitivity(lambda a: _compare(pair, a).break_even_hours, assumed)}
    stays = _compare(pair, assumed).break_even_hours
    # An hour costs the same however many there are a day: then the break-even stays, which is not the same as none.
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
    """What stands around the cards: the dollars of the machine that this use bears, and its watts."""
    return costs.Machine(host.cost_usd(assumptions), host.power_w(assumptions))


def _saving(answer: RentVsBuy) -> Decimal:
    return answer.rent - answer.own.total
