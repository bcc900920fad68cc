"""What measurements say of how near cards come to their bounds: the fitted efficiencies, and how far they may be off.

Decoding on one card, or on several that each hold a share of the layers:

    seconds a token = (A × bytes / bandwidth + B × layers / clock + H × (cards − 1)) × card

A is how much longer the memory takes than its data sheet says, B the time that starting the kernels of a layer takes, H what
handing over from card to card takes. Reading a prompt:

    tera-operations a second = C × (16-bit rate)^p × bandwidth^q × watts^w × (hidden / 4096)^s × pipeline × cards^k × card

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

from gpuledger.transform.speed.features import CardTraits, Work, pipeline_speedup

FILE = Path(__file__).with_name("calibration.toml")

#: A normal variable lies within ± so many standard deviations in 80 of 100 cases.
EIGHTY_PERCENT = 1.2816

#: Standard deviations (natural logarithm) that are added for another vendor's programs, and for mixtures of experts, where
#: none was measured. Own choice: between Ollama's measurements of NVIDIA and AMD cards lies about as much.
_OTHER_VENDOR = 0.4
#: What mixtures reach of the operations a second of dense models when they read. Own choice: experts make small matrices.
_MIXTURE_PREFILL = 0.6
_OTHER_MODELS = 0.2
#: The same for reading, where the model is none of those that were measured: later versions of the program read up to 1.6
#: times as fast, other back ends half as fast; and for mixtures, where few tokens of a piece meet in one expert. Own choice.
_OTHER_READING, _MIXTURE_READING = 0.3, 0.45


@dataclass(frozen=True, slots=True)
class DecodeTimes:
    """Seconds of a written token: for each byte read, each layer, and each card after the first."""

    a_byte: float
    a_layer: float
    a_handover: float

    def seconds(self, work: Work, count: int) -> float:
        """Of one token on `count` cards that share the layers."""
        return self.a_byte * work.bytes_a_token + self.a_layer * work.layers + self.a_handover * (count - 1)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted figures of one engine. `values` are its parameters, `groups` the effects by architecture, chip and card
    (natural logarithms), `spread` the standard deviations of held-out residuals, by how near the nearest measurement is, and
    `shapes` the models that were measured (see Work).
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
        """How long the parts of a token take on `card`."""
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
        return DecodeTimes(
            a_byte=common * math.exp(ln_a) / (card.bandwidth_gb_s * 1e9),
            a_layer=common * math.exp(v["layer"]) * 1e-6 * mixture / card.clock_ghz,
            a_handover=common * math.exp(v["handover"]) * 1e-6,
        )

    def prefill_tokens_per_s(self, card: CardTraits, work: Work, count: int, chunk_tokens: int) -> float | None:
        """Prompt tokens a second; None where the rate of the card is not known."""
        if not card.tflops or not work.flops_a_token:
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
            ln += math.log(_MIXTURE_PREFILL)
        speedup = pipeline_speedup(work.prompt_tokens, count, chunk_tokens)
        return math.exp(ln) * 1e12 * speedup / work.flops_a_token

    @property
    def reads_prompts(self) -> bool:
        """Whether reading was measured as well as writing."""
        return "prefill_rate" in self.values

    def nearest(self, what: str, card: CardTraits) -> str:
        """How near the nearest measurement behind a figure of `card` is: `card`, `architecture`, or `none`."""
        if card.gpu_id in self.groups[f"{what}_card"]:
            return "card"
        return "architecture" if card.architecture in self.groups[f"{what}_architecture"] else "none"

    def deviation(self, what: str, card: CardTraits, work: Work) -> float:
        """Standard deviation of the logarithm of a speed: that of the card, and more where the model is none of the measured
        ones.
        """
        parts = [self.card_deviation(what, card, work.is_mixture)]
        if work.shape not in self.shapes:
            parts.append(self.other_models)
            if what == "prefill":
                parts += [_OTHER_READING, _MIXTURE_READING if work.is_mixture else 0.0]
        return math.hypot(*parts)

    def card_deviation(self, what: str, card: CardTraits, is_mixture: bool) -> float:
        """That of held-out cards which were as near to a measured one, and more where the vendor or this kind of model is
        none of the measured ones.
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
        """Standard deviation that is added for models that were not measured."""
        return self.spread.get("other_models", 0.0)

    def _effect(self, group: str, name: str) -> float:
        return self.groups.get(group, {}).get(name, 0.0)


@functools.cache
def calibrations() -> Mapping[str, Calibration]:
    """Every calibrated engine by name."""
    words: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Calibration(
            engine=name,
            values=one["values"],
            groups=one["groups"],
            spread=one["spread"],
            measurements=one["measurements"],
            cards=one["cards"],
            has_mixtures=one["has_mixtures"],
            shapes=tuple(one["shapes"]),
            source=one["source"],
        )
        for name, one in words.items()
    }
