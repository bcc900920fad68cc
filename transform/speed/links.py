"""How fast cards exchange data. This depends on the card and on its host, so it is not one constant."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.tensors import Architecture

#: All-reduces of the hidden state in each layer under tensor parallelism: one after the attention, one after the
#: feed-forward. Source: Shoeybi et al. 2019, Megatron-LM, section 3.
EXCHANGES_PER_LAYER = 2

#: GB/s in one direction over the fabric of a whole node, by architecture. Source: data sheets of NVIDIA's SXM modules
#: (NVLink, both directions: V100 300, A100 600, H100 900, B200 1800) and AMD's OAM modules (7 links of 128 GB/s).
_FABRIC_GB_S = {
    "Volta": 150.0, "Ampere": 300.0, "Hopper": 450.0, "Blackwell": 900.0, "CDNA 2.0": 400.0, "CDNA 3.0": 448.0,
    "CDNA 4.0": 537.0,
}  # fmt: skip
#: Modules that exist only in whole nodes with such a fabric.
MODULES = ("SXM", "OAM", "SXM2", "SXM3", "SXM4", "SXM5", "SXM6")
#: Cards that were sold with a slower fabric. Source: NVIDIA's specifications for these (400 GB/s both directions).
_CUT = {"nvidia-a800-sxm4": 200.0, "nvidia-h800-sxm5": 200.0}
#: The share of the fabric's rate that an exchange among four cards reaches. Source: nccl-tests on four A100, 64 MB in 603
#: µs over NVLink 3.0 (besthub.dev, "Why NVLink supercharges Llama 3 70B inference"); over PCIe 4.0 it took 11,369 µs
#: (slot_share).
_FABRIC_SHARE = 0.56
#: GB/s of one lane in one direction, by PCIe generation. Source: PCI-SIG, after line coding.
_LANE_GB_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}


_ASSUMED_GB_S = Assumptions().link_gb_s


class Slot(NamedTuple):
    """A PCIe slot: its generation and the lanes that are connected."""

    generation: int
    lanes: int

    @property
    def gb_s(self) -> float:
        """GB/s in one direction."""
        return _LANE_GB_S[self.generation] * self.lanes


class Link(NamedTuple):
    """The connection between two cards, in one direction.

    `gb_s` is the rate that an exchange reaches, `latency_us` the microseconds before the first byte of a step, and `source`
    says where both come from. Over slots (`is_ring`) an exchange takes two steps for each card after the first. Over a
    fabric it takes one step.
    """

    gb_s: float
    latency_us: float
    source: Message
    is_ring: bool = False


def is_module(gpu: Gpu) -> bool:
    """Whether the card is a module, which can be bought and rented only in whole nodes."""
    return (gpu.form_factor or "").upper() in MODULES


def link_between(gpu: Gpu, assumptions: Assumptions, machine: Slot | None = None) -> Link:
    """The fabric of a module, else the slots: those of the card and of the `machine`, as far as both are known.

    A slot of a machine that is not known is assumed (`link_gb_s`), as is any slot if the user sets that assumption.
    """
    fabric, share = fabric_gb_s(gpu), assumptions.slot_share
    if fabric is not None:
        source = Message(
            "{fabric_share:.0%} of the fabric of its nodes (data sheet; nccl-tests)", fabric_share=_FABRIC_SHARE
        )
        return Link(fabric, assumptions.link_latency_us, source)
    own, latency = slot_of(gpu), assumptions.link_latency_us
    if machine is not None and assumptions.link_gb_s == _ASSUMED_GB_S:
        both = machine if own is None else Slot(min(own.generation, machine.generation), min(own.lanes, machine.lanes))
        source = Message(
            "slot_share of a slot of PCIe {generation}.0 with {lanes} lanes, which card and machine share",
            generation=both.generation, lanes=both.lanes,
        )  # fmt: skip
        return Link(both.gb_s * share, latency, source, is_ring=True)
    if own is not None and own.gb_s < assumptions.link_gb_s:
        source = Message("slot_share of its slot, {bus_interface}", bus_interface=gpu.bus_interface)
        return Link(own.gb_s * share, latency, source, is_ring=True)
    # A bridge can join boards of this form (two H100 NVL, two or four H200 NVL), but it is bought separately.
    source = Message(
        "slot_share of link_gb_s, the host's slots, without the bridge that joins some of them"
        if gpu.form_factor == "NVL"
        else "slot_share of link_gb_s, the host's slots"
    )
    return Link(assumptions.link_gb_s * share, latency, source, is_ring=True)


def fabric_gb_s(gpu: Gpu) -> float | None:
    """GB/s in one direction that an exchange reaches over the fabric of a module's nodes.

    None for a card that is not a module, or if we do not know a data sheet for the fabric.
    """
    if not is_module(gpu):
        return None
    published = _CUT.get(gpu.gpu_id) or _FABRIC_GB_S.get(gpu.architecture or "")
    return None if published is None else published * _FABRIC_SHARE


# Cached, because this is called for each card with each model and each number of cards.
@lru_cache(maxsize=4096)
def slot_of(gpu: Gpu) -> Slot | None:
    """The card's own end of a slot, None if the catalogue does not state it."""
    match = re.fullmatch(r"PCIe (\d)\.\d x(\d+)", gpu.bus_interface or "")
    if match is None or int(match[1]) not in _LANE_GB_S:
        return None
    return Slot(int(match[1]), int(match[2]))


def amdahl_speedup(parallel_fraction: float, count: int, communication: float = 0) -> float:
    """How many times faster `count` workers are than one.

    It is 1 / ((1 − p) + p / n + c). p is the part of the work that the workers can divide, and c is the time of
    communication, in units of the time that one worker needs for all of the work. Source: Amdahl 1967; we added c because
    the cards that share a language model exchange data in every layer.
    """
    return 1 / ((1 - parallel_fraction) + parallel_fraction / count + communication)


def exchange_seconds(architecture: Architecture, tokens: int, count: int, link: Link) -> float:
    """Seconds in which `count` cards exchange the hidden state of `tokens` tokens in one forward pass (16 bits).

    A ring all-reduce moves 2 × (n − 1) / n of the data over each link, in 2 × (n − 1) steps that each begin with a latency.
    A fabric with a switch takes one step. Source: Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce".
    """
    if count == 1:
        return 0.0
    exchanges = EXCHANGES_PER_LAYER * architecture.layers
    bytes_each = 2 * architecture.hidden * tokens
    over_link = 2 * (count - 1) / count * bytes_each / (link.gb_s * 1e9)
    steps = 2 * (count - 1) if link.is_ring else 1
    return exchanges * (steps * link.latency_us * 1e-6 + over_link)
