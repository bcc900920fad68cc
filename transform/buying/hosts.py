"""The machine around the cards: slots, power, form factor and price. What no machine holds is no option."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.accelerators import accelerator_of
from gpuledger.transform.speed.features import memory_kind
from gpuledger.transform.speed.links import is_module
from gpuledger.transform.speed.offload import HostMemory
from gpuledger.transform.speed.predict import Prediction

FILE = Path(__file__).with_name("hosts.toml")

#: Watts that an ordinary outlet gives all day, by country: volts × amperes, of which North America and Japan allow 80%.
#: Source: national wiring rules (US NEC 210.20: 120 V, 15 A; Japan: 100 V, 15 A; UK: 13 A fuse; Korea and continental
#: Europe: 16 A).
OUTLET_WATTS: Mapping[str, int] = MappingProxyType({"US": 1440, "CA": 1440, "JP": 1200, "GB": 2990, "KR": 3520})
_EUROPEAN_OUTLET_WATTS = 3680


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One kind of machine (see hosts.toml). Price, idle power and memory are None for the desktop, which the assumptions
    describe; `whole` says that it is sold only with all its modules.
    """

    name: str
    form_factors: tuple[str, ...]
    cards: int
    gpu_power_w: int
    lanes: int
    source: str
    whole: bool = False
    idle_w: int | None = None
    price_usd: Decimal | None = None
    memory_gb: float | None = None
    memory_gb_s: float | None = None

    def cost_usd(self, assumptions: Assumptions) -> Decimal:
        """The part of its price that this use bears."""
        return assumptions.host_usd * assumptions.host_share if self.price_usd is None else self.price_usd

    def power_w(self, assumptions: Assumptions) -> Decimal:
        """What it draws beside the cards while it is on."""
        return assumptions.host_power_w if self.idle_w is None else Decimal(self.idle_w)

    def memory(self, assumptions: Assumptions) -> HostMemory | None:
        """Its own memory, where weights may stay that the cards do not hold; None where that is the cards' too."""
        if self is _ITSELF:
            return None
        if self.memory_gb is None or self.memory_gb_s is None:
            source = "the desktop's, host_memory_gb_s"
            return HostMemory(assumptions.host_memory_gb, assumptions.host_memory_gb_s, source)
        return HostMemory(self.memory_gb, self.memory_gb_s, f"one processor of the {self.name}, our estimate")


#: A machine of shared memory is bought with all that is in it; what it draws is its chip's.
_ITSELF = Host(
    name="the machine itself", form_factors=("machine",), cards=1, gpu_power_w=10_000, lanes=0,
    source="nothing is needed around it", whole=True, idle_w=0, price_usd=Decimal(0),
)  # fmt: skip


@functools.cache
def estimated_on() -> date:
    """The day on which prices and idle power of the machines were estimated: nobody published them."""
    words = tomllib.loads(FILE.read_text(encoding="utf-8"))
    day: date = words["estimated_on"]
    return day


@functools.cache
def hosts() -> tuple[Host, ...]:
    """All kinds of machines, the smallest first."""
    words = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        Host(
            name=one["name"], form_factors=tuple(one["form_factors"]), cards=one["cards"], gpu_power_w=one["gpu_power_w"],
            lanes=one["lanes"], source=one["source"], whole=one.get("whole", False), idle_w=one.get("idle_w"),
            price_usd=Decimal(one["price_usd"]) if "price_usd" in one else None, memory_gb=one.get("memory_gb"),
            memory_gb_s=one.get("memory_gb_s"),
        )
        for one in words["host"]
    )  # fmt: skip


def host_for(gpu: Gpu, boards: int, tdp_w: int | None) -> Host | None:
    """The smallest machine that holds so many boards of a card and feeds them; None where there is none."""
    return next(hosts_for(gpu, boards, tdp_w), None)


def host_with_room(
    gpu: Gpu, boards: int, tdp_w: int | None, predicted: Callable[[Host], Prediction | None]
) -> Host | None:
    """The smallest machine whose memory also takes what the cards leave with the processor, by what is `predicted` in each.

    The smallest of all where none does: nobody builds in six cards for the memory that comes with their slots.
    """
    found = list(hosts_for(gpu, boards, tdp_w))
    answers = ((host, predicted(host)) for host in found)
    return next((host for host, answer in answers if answer and answer.verdict != "no"), found[0] if found else None)


def hosts_for(gpu: Gpu, boards: int, tdp_w: int | None) -> Iterator[Host]:
    """The machines that hold so many boards of a card and feed them, the smallest first.

    Modules come only in whole nodes, what has a socket of its own goes into none of these, and a chip whose memory is the
    machine's is a machine already, one by one.
    """
    if memory_kind(gpu) == "shared":
        if boards == 1:
            yield _ITSELF
        return
    accelerator = accelerator_of(gpu)
    if accelerator is not None and not accelerator.host:
        return  # rented from who makes it, and sold to nobody
    form = "SXM" if is_module(gpu) else gpu.form_factor or "PCIe"
    for host in hosts():
        fits = form in host.form_factors and boards <= host.cards and (tdp_w or 0) * boards <= host.gpu_power_w
        if fits and (not host.whole or boards == host.cards):
            yield host


def outlet_watts(country: str | None) -> int:
    """What an ordinary outlet gives all day; that of the United States where no country is named."""
    code = (country or "US").upper()
    return OUTLET_WATTS.get(code, _EUROPEAN_OUTLET_WATTS)
