"""Answers a question of each night: does a card or an instance cost less over the horizon?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gpuledger.transform.assumptions import Assumptions, with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.costs import RentVsBuy
from gpuledger.transform.buying.hosts import Host


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


def compare(pair: Pair, assumptions: Assumptions) -> RentVsBuy:
    """Compares owning with renting over the horizon. Raises costs.ImpossibleCost, ImpossibleAssumption."""
    assumed = with_value_kept(assumptions, pair.value_kept)
    rent = costs.rent_per_used_hour(pair.hour_usd, pair.pricing_model, assumed)
    machine = None if pair.host is None else pair.host.around(assumed)
    if machine is not None and pair.is_machine:
        machine = machine._replace(usd=Decimal(0))
    own = costs.ownership(pair.price_usd, pair.tdp_w, assumed, count=pair.cards, machine=machine)
    return costs.rent_vs_buy(own, rent)
