"""The machine around the cards: slots, power, form factor and price. Cards that no machine holds are not an option."""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.costs import Machine
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.cards import memory_kind
from gpuledger.transform.speed.engines import accelerator_of
from gpuledger.transform.speed.links import Slot, is_module
from gpuledger.transform.speed.memory import HostMemory
from gpuledger.transform.speed.predict import Prediction

FILE = Path(__file__).with_name("hosts.toml")
#: Cards of double width that a machine of the user takes if nobody says how many: most ATX boards have two such slots.
OWN_SLOTS = 2

#: Watts of a supply beside the boards: NVIDIA asks for 550 W around a card of 170, 750 around 350, 850 around 450 and 1,000
#: around 575 (product pages of the RTX 3060, 3090, 4090 and 5090).
_SUPPLY_BESIDE_W = 400

#: Watts that an ordinary outlet gives all day, by country: volts × amperes. North America and Japan allow 80% of that.
#: Source: national wiring rules (US NEC 210.20: 120 V, 15 A; Japan: 100 V, 15 A; UK: 13 A fuse; Korea and continental
#: Europe: 16 A).
OUTLET_WATTS: Mapping[str, int] = MappingProxyType({"US": 1440, "CA": 1440, "JP": 1200, "GB": 2990, "KR": 3520})
_EUROPEAN_OUTLET_WATTS = 3680


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One kind of machine (see hosts.toml).

    Price, idle power and memory are None for a desktop, because the assumptions state these; it costs `more_usd` more than
    one for a single card. `low_usd` to `high_usd` is the range of its price. `whole` is true if the machine is sold only
    with all its modules, and `airflow` if its fans cool cards that have no fan.
    """

    name: str
    form_factors: tuple[str, ...]
    cards: int
    gpu_power_w: int
    lanes: int
    source: str
    pcie: int = 5
    whole: bool = False
    airflow: bool = False
    idle_w: int | None = None
    price_usd: Decimal | None = None
    more_usd: Decimal = Decimal(0)
    low_usd: Decimal | None = None
    high_usd: Decimal | None = None
    memory_gb: float | None = None
    memory_gb_s: float | None = None

    def full_usd(self, assumptions: Assumptions) -> Decimal:
        """What the machine costs, without cards and tax."""
        return assumptions.host_usd + self.more_usd if self.price_usd is None else self.price_usd

    def power_w(self, assumptions: Assumptions) -> Decimal:
        """The watts that the machine draws without the cards while it is on."""
        return assumptions.host_power_w if self.idle_w is None else Decimal(self.idle_w)

    def around(self, assumptions: Assumptions) -> Machine:
        """The machine around the cards. One that is larger than a desktop is bought for them alone: they bear its price."""
        share = assumptions.host_share if self.price_usd is None else Decimal(1)
        return Machine(self.full_usd(assumptions), self.power_w(assumptions), share)

    def memory(self, assumptions: Assumptions) -> HostMemory | None:
        """The memory for weights that the cards do not hold, and the slots. None if the cards use the same memory."""
        if self is _ITSELF:
            return None
        if self.memory_gb is None or self.memory_gb_s is None:
            source = "the desktop's, host_memory_gb_s"
            return HostMemory(assumptions.host_memory_gb, assumptions.host_memory_gb_s, source, self.slot)
        source = f"one processor of the {self.name}, our estimate"
        return HostMemory(self.memory_gb, self.memory_gb_s, source, self.slot)

    @property
    def slot(self) -> Slot | None:
        """Each of its slots, if all are used. None for a machine without slots."""
        return Slot(self.pcie, self.lanes) if self.lanes else None


#: The host of a chip that shares its memory with the processor, or of a laptop's: the machine is bought complete, and draws
#: only what the chip draws.
_ITSELF = Host(
    name="the machine itself", form_factors=("machine",), cards=1, gpu_power_w=10_000, lanes=0,
    source="nothing is needed around it", whole=True, idle_w=0, price_usd=Decimal(0),
)  # fmt: skip


@functools.cache
def _content() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def estimated_on() -> date:
    """The day on which we estimated the prices and idle power of the machines. Nobody published these."""
    day: date = _content()["estimated_on"]
    return day


@functools.cache
def hosts() -> tuple[Host, ...]:
    """All kinds of machines, the smallest first."""
    money = ("price_usd", "more_usd", "low_usd", "high_usd")

    def host(**entry: Any) -> Host:
        amounts: dict[str, Any] = {name: Decimal(entry.pop(name)) for name in money if name in entry}
        return Host(form_factors=tuple(entry.pop("form_factors")), **entry, **amounts)

    return tuple(host(**entry) for entry in _content()["host"])


@functools.cache
def computers() -> Mapping[str, str]:
    """What a chip is sold in that is bought as a whole computer, by the chip."""
    return {chip: name for name, chips in _content()["computer"].items() for chip in chips}


def around(cards: Iterable[tuple[Gpu, int]]) -> frozenset[str]:
    """The names of the machines that a number of cards are in. Who has one in a desktop has room for a second."""
    found = [host for gpu, count in cards if (host := host_for(gpu, count, gpu.tdp_w and round(gpu.tdp_w)))]
    is_desktop = any(host.price_usd is None for host in found)
    return frozenset(
        host.name for host in (*found, *hosts()) if host in found or (is_desktop and host.price_usd is None)
    )


def has_no_fan(gpu: Gpu) -> bool:
    """Whether the card is cooled by the fans of a server."""
    cooling = _content()["cooling"]
    if gpu.gpu_id in cooling["without_fan"]:
        return True
    return gpu.segment in cooling["without_fan_segments"] and gpu.gpu_id not in cooling["with_fan"]


def supply_w(boards: int, tdp_w: int, host_w: Decimal) -> int:
    """Watts of a power supply for the boards and the rest of the machine, in steps of 50.

    A quarter more than all of them may draw together, because cards draw more than their limit for moments, and as much as
    a card's maker asks for.
    """
    watts = boards * tdp_w
    return math.ceil(max((watts + float(host_w)) * 1.25, watts + _SUPPLY_BESIDE_W) / 50) * 50


def host_for(gpu: Gpu, boards: int, tdp_w: int | None) -> Host | None:
    """The smallest machine with slots and power for `boards` boards of a card, None if there is none."""
    return next(hosts_for(gpu, boards, tdp_w), None)


def host_with_room(
    gpu: Gpu, boards: int, tdp_w: int | None, predicted: Callable[[Host], Prediction | None]
) -> Host | None:
    """The smallest machine that holds the boards and whose memory also takes what the cards leave with the processor.

    `predicted` gives the prediction in each machine. If the memory of none is enough, this is the smallest machine that
    holds the boards: nobody installs six cards only for the memory of a machine with so many slots.
    """
    candidates = list(hosts_for(gpu, boards, tdp_w))
    predictions = ((host, predicted(host)) for host in candidates)
    return next(
        (host for host, prediction in predictions if prediction and prediction.verdict != "no"),
        candidates[0] if candidates else None,
    )


def hosts_for(gpu: Gpu, boards: int, tdp_w: int | None) -> Iterator[Host]:
    """The machines with slots and power for `boards` boards of a card, the smallest first.

    Modules come only in whole nodes. No machine here takes a card with a socket of its own. A chip that shares its memory
    with the processor, or that is in a laptop, is a machine already, so it has a host only if it is alone.
    """
    if memory_kind(gpu) == "shared" or gpu.segment == "mobile":
        if boards == 1:
            yield _ITSELF
        return
    accelerator = accelerator_of(gpu)
    if accelerator is not None and not accelerator.host:
        return  # its maker rents it out, but does not sell it
    form = "SXM" if is_module(gpu) else gpu.form_factor or "PCIe"
    for host in hosts():
        fits = form in host.form_factors and boards <= host.cards and (tdp_w or 0) * boards <= host.gpu_power_w
        cooled = host.airflow or not has_no_fan(gpu)
        if fits and cooled and (not host.whole or boards == host.cards):
            yield host


def outlet_watts(country: str | None) -> int:
    """The watts that an ordinary outlet gives all day. Without a country, those of the United States."""
    code = (country or "US").upper()
    return OUTLET_WATTS.get(code, _EUROPEAN_OUTLET_WATTS)
