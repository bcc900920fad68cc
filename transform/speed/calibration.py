"""How near cards come to their bounds according to measurements: the fitted efficiencies, and how far they may be off.

Decoding on one card, or on several cards that each hold a share of the layers:

    seconds a token = card × (A × (weights + D × cache) / bandwidth + E × cache / clock + B × layers / clock
                              + H × (cards − 1))

A (`memory`, with the kind of memory and ECC) says how many times longer the memory takes than its data sheet states. D
(`cache`) and E (`cache_clock`) say how much slower the cache is read than the weights. B (`layer`, of a mixture also
`layer_mixture`) is the time that starting the kernels of a layer takes, and H (`handover`) the time that handing over from
card to card takes. The values are natural logarithms of these. Reading a prompt:

    tera-operations a second = C × (16-bit rate)^p × bandwidth^q × watts^w × (hidden / 4096)^s × pipeline × cards^k × card

at which the operations with weights are done; those of the attention take F (`prefill_attention`) times as long. C is
`prefill_` with the kind of weights, p, q, w, s and k are `prefill_` with `rate`, `bandwidth`, `watts`, `hidden` and
`cards`.

The figures stand in `calibration.toml`, which `python -m tools.calibrate` writes from published measurements.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuledger.transform.speed.cards import CardTraits
from gpuledger.transform.speed.work import Work

FILE = Path(__file__).with_name("calibration.toml")

#: In 80 of 100 cases a normal variable lies within ± this many standard deviations.
EIGHTY_PERCENT = 1.2816

#: The standard deviation (natural logarithm) that is added if no card of that vendor was measured. Own choice: Ollama's
#: measurements of NVIDIA and AMD cards differ by about as much.
_OTHER_VENDOR = 0.4
#: The standard deviation that is added for mixtures of experts if none was measured. Own choice.
_OTHER_MODELS = 0.2


@dataclass(frozen=True, slots=True)
class DecodeTimes:
    """The parts of the time of a written token: seconds for each byte of weights, each byte of the cache, each layer, and
    each card after the first.
    """

    a_byte: float
    a_cached_byte: float
    a_layer: float
    a_handover: float

    def seconds(self, work: Work, count: int) -> float:
        """The time of one token on `count` cards that share the layers."""
        return (
            self.a_byte * work.weight_bytes
            + self.a_cached_byte * work.cache_bytes
            + self.a_layer * work.layers
            + self.a_handover * (count - 1)
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted figures of one engine.

    `values` holds its parameters, and `groups` the effects of architecture, chip and card (natural logarithms). `spread`
    holds the standard deviations of held-out residuals by how near the nearest measurement is. `shapes` lists the models
    that were measured (see Work).
    """

    engine: str
    values: Mapping[str, float]
    groups: Mapping[str, Mapping[str, float]]
    spread: Mapping[str, float]
    measurements: int
    cards: int
    has_mixtures: bool
    shapes: tuple[str, ...]
    source: str

    def decode_times(self, card: CardTraits, work: Work) -> DecodeTimes:
        """The parts of the time of a token on `card`."""
        v = self.values
        ln_a = v["memory"] + v.get(f"memory_{card.memory}", 0.0) + (v["memory_ecc"] if card.ecc else 0.0)
        ln_a += self._effect("decode_chip", card.chip)
        common = math.exp(
            self._effect("decode_architecture", card.architecture)
            + self._effect("decode_vendor", card.vendor)
            + self._effect("decode_vendor_elsewhere", card.vendor)
            + self._effect("decode_card", card.gpu_id)
        )
        mixture = math.exp(v["layer_mixture"]) if work.is_mixture else 1.0
        a_byte = math.exp(ln_a) / (card.bandwidth_gb_s * 1e9)
        cache = math.exp(v["cache"] + self._effect("decode_cache_vendor", card.vendor))
        return DecodeTimes(
            a_byte=common * a_byte,
            a_cached_byte=common * cache * (a_byte + math.exp(v["cache_clock"]) * 1e-12 / card.clock_ghz),
            a_layer=common * math.exp(v["layer"]) * 1e-6 * mixture / card.clock_ghz,
            a_handover=common * math.exp(v["handover"]) * 1e-6,
        )

    def prefill_tokens_per_s(self, card: CardTraits, work: Work, count: int, chunk_tokens: int) -> float | None:
        """Prompt tokens a second, None if the rate of the card is not known."""
        operations = (
            work.flops_a_token + math.exp(self.values.get("prefill_attention", 0)) * work.attention_flops_a_token
        )
        if not card.tflops or not operations:
            return None
        v = self.values
        ln = v[f"prefill_{work.weights}"] + v["prefill_rate"] * math.log(card.tflops / 100)
        ln += v["prefill_bandwidth"] * math.log(card.bandwidth_gb_s / 1000)
        ln += v["prefill_watts"] * math.log(card.watts / 300)
        ln += v[f"prefill_hidden_{work.weights}"] * math.log(work.hidden / 4096)
        ln += v["prefill_cards"] * math.log(count)
        ln += self._effect("prefill_architecture", card.architecture) + self._effect("prefill_vendor", card.vendor)
        ln += self._effect("prefill_card", card.gpu_id)
        if work.is_mixture:
            ln += v["prefill_mixture"]
        speedup = pipeline_speedup(work.prompt_tokens, count, chunk_tokens)
        return math.exp(ln) * 1e12 * speedup / operations

    @property
    def reads_prompts(self) -> bool:
        """Whether reading was measured as well as writing."""
        return "prefill_rate" in self.values

    def nearest(self, what: str, card: CardTraits) -> str:
        """What was measured for `what` (`decode`, `prefill`): the `card` itself, its `architecture`, or `none`."""
        if card.gpu_id in self.groups[f"{what}_card"]:
            return "card"
        return "architecture" if card.architecture in self.groups[f"{what}_architecture"] else "none"

    def deviation(self, what: str, card: CardTraits, work: Work, cache_share: float = 0.0) -> float:
        """The standard deviation of the logarithm of a speed: that of the card, and more if the model was not measured, and
        for `cache_share`, the part of the time in which the cache is read.
        """
        parts = [self.card_deviation(what, card, work.is_mixture)]
        if work.shape not in self.shapes:
            kind = "mixtures" if work.is_mixture and what == "prefill" else "models"
            parts.append(self.spread[f"{what}_{kind}"])
        if cache_share:
            parts.append(self.spread["decode_cache"] * cache_share)
        return math.hypot(*parts)

    def card_deviation(self, what: str, card: CardTraits, is_mixture: bool) -> float:
        """The standard deviation of held-out cards that were as near to a measured card.

        It is larger if no card of the vendor, or no model of this kind, was measured.
        """
        nearest = self.nearest(what, card)
        if what == "decode" and nearest != "none":
            nearest += "_hbm" if card.memory == "hbm" else "_other"
        parts = [self.spread[f"{what}_{nearest}"]]
        if card.vendor != "NVIDIA" and card.vendor not in self.groups[f"{what}_vendor"]:
            parts.append(_OTHER_VENDOR)
        if is_mixture and not self.has_mixtures:
            parts.append(_OTHER_MODELS)
        return math.hypot(*parts)

    @property
    def other_models(self) -> float:
        """The standard deviation that is added for models that were not measured."""
        return self.spread["decode_models"]

    def _effect(self, group: str, name: str) -> float:
        return self.groups.get(group, {}).get(name, 0.0)


def pipeline_speedup(prompt_tokens: int, count: int, chunk_tokens: int) -> float:
    """How many times faster a prompt passes `count` cards that share the layers than one card that holds all layers.

    The prompt is divided into c pieces of `chunk_tokens`. The c pieces pass n cards in c + n − 1 steps, and each step takes
    1/n of the time of one card. So the speedup is c·n / (c + n − 1).
    Source: Huang et al. 2019, GPipe, section 2.3 (the bubble of a pipeline).
    """
    pieces = max(1, -(-prompt_tokens // chunk_tokens))
    return pieces * count / (pieces + count - 1)


@functools.cache
def calibrations() -> Mapping[str, Calibration]:
    """Every calibrated engine by name."""
    entries: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: Calibration(name, **entry | {"shapes": tuple(entry["shapes"])}) for name, entry in entries.items()}
