"""How fast servers (vLLM, SGLang, TensorRT-LLM) write and read for users at once, fitted to published measurements.

A step, in which every user gets one token, on n cards that each hold a part of every layer:

    seconds = (A × (weights + G × further experts) + D × cache) / bandwidth + C × operations / matrix rate
            + E × exchange + n > 1: S × exchanges + B × layers (of a mixture: M more) + F

each divided by what the server, the maker, the kind of memory, the architecture and the card have in common. Weights,
operations and the cache are those of one card: a card holds the whole of a latent cache, and no less than one key-value
head. `further experts` are those that users reach beyond the experts of one token if every expert is as likely as any
other; since text is not like that, G is below 1. Reading a prompt takes P × operations / matrix rate + E × exchange, and
the weights that each of its pieces reaches are read once (A). The operations of a mixture take longer (`mixture`), and
layers that keep a state have more kernels to start (`layer_state`). 4-bit whole numbers have fast programs for NVIDIA's
cards only (`packed`).

The figures stand in `calibration.toml` under `served`, which `python -m tools.calibrate` writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from gpuledger.transform.speed.calibration import Calibration, Case
from gpuledger.transform.speed.cards import CardTraits
from gpuledger.transform.speed.work import ServedWork

#: The name of the calibration that all servers share.
SERVED = "served"


def step_parts(calibration: Calibration, engine: str, card: CardTraits, work: ServedWork) -> Mapping[str, float]:
    """Seconds of the parts of a step: weights, cache, operations, exchange, layers, step. Their sum is its time."""
    v = calibration.values
    common = _common(calibration, engine, card, work)
    bandwidth = card.bandwidth_gb_s * 1e9
    more = math.exp(v["layer_state"]) * work.state_layers + math.exp(v["layer_latent"]) * work.latent_layers
    a_layer = math.exp(v["layer"]) + (math.exp(v["layer_mixture"]) if work.is_mixture else 0.0)
    parts = {
        "weights": math.exp(v["memory"])
        * (work.weight_bytes + math.exp(v["experts"]) * work.further_bytes)
        / bandwidth,
        "cache": math.exp(v["cache"]) * work.cache_bytes / bandwidth,
        "operations": math.exp(v["compute"]) * _operations_s(v, work.flops, work) if work.tflops else 0.0,
        "exchange": math.exp(v["exchange"]) * work.exchange_s + math.exp(v["exchange_start"]) * 1e-6 * work.exchanges,
        "layers": (a_layer * work.layers + more) * 1e-6,
        "step": math.exp(v["step"]) * 1e-3,
    }
    return {name: seconds * common for name, seconds in parts.items()}


def prompt_seconds(calibration: Calibration, engine: str, card: CardTraits, work: ServedWork) -> float | None:
    """Seconds to read the prompt of one user, None if the matrix rate of the card is not known."""
    if not work.tflops:
        return None
    v = calibration.values
    seconds = math.exp(v["prompt"]) * _operations_s(v, work.prompt_flops, work)
    seconds += math.exp(v["exchange"]) * work.prompt_exchange_s
    seconds += math.exp(v["memory"]) * work.prompt_bytes / (card.bandwidth_gb_s * 1e9)
    return seconds * _common(calibration, engine, card, work)


def deviation(calibration: Calibration, case: Case, work: ServedWork, *, is_covered: bool) -> float:
    """The standard deviation of the logarithm of a speed, by how near the nearest measurement is."""
    parts = [calibration.card_deviation(case, is_inside=is_covered)]
    if work.shape not in calibration.shapes:
        parts.append(calibration.spread["served_models"])
    return math.hypot(*parts)


def _common(calibration: Calibration, engine: str, card: CardTraits, work: ServedWork) -> float:
    effects = sum(_effects(calibration, engine, card))
    if work.is_packed:
        effects += calibration.groups.get("served_packed_vendor", {}).get(card.vendor, 0.0)
    return math.exp(-effects)


def _effects(calibration: Calibration, engine: str, card: CardTraits) -> Iterator[float]:
    of_card = {"vendor": card.vendor, "memory": card.memory, "architecture": card.architecture, "card": card.gpu_id}
    names = {"engine": engine, **of_card}
    for group, name in names.items():
        yield calibration.groups.get(f"served_{group}", {}).get(name, 0.0)


def _operations_s(values: Mapping[str, float], flops: float, work: ServedWork) -> float:
    """Seconds of operations at a rate between that at 16 bits and that at the width of the weights, as fitted."""
    assert work.tflops is not None
    faster: float = ((work.narrow_tflops or work.tflops) / work.tflops) ** values["narrow"]
    slower = math.exp(values["mixture"]) if work.is_mixture else 1.0
    return slower * flops / (work.tflops * faster * 1e12)
