"""How near cards come to their bounds according to measurements: the fitted efficiencies, and how far they may be off.

Decoding on one card, or on several cards that each hold a share of the layers:

    seconds a token = card × (A × (weights + D × cache) / bandwidth + E × cache / clock + B × layers / clock
                              + H × (cards − 1))

A (`memory`, with the kind of memory and ECC) says how many times longer the memory takes than its data sheet states. D
(`cache`) and E (`cache_clock`) say how much slower the cache is read than the weights. B (`layer`, of a mixture also
`layer_mixture`, where layers keep a state also `layer_state`) is the time that starting the kernels of a layer takes, and H
(`handover`) the time that handing over from card to card takes. The values are natural logarithms of these. Reading a token
of a prompt:

    seconds = (S × operations with weights / (M × R) + F × operations of attention / R
               + G × weights of a piece / tokens of a piece / bandwidth) / (pipeline × cards^k × card)
    R = C × (16-bit rate)^p × bandwidth^q × watts^w × (hidden / 4096)^s tera-operations a second

A prompt is read in pieces, and each piece reads all weights that its tokens reach: of a mixture nearly all experts, though
a token uses few (G, `piece`; M, `mixture`). S (`state`) is how much longer layers with a state take. F is `attention`,
within the windows of the layers. C, p, q, w, s and k are the kind of weights, `rate`, `bandwidth`, `watts`, `hidden` and
`cards`, all with `prefill_` before them.

What was measured of a kind of model on an architecture, and how much was held at most, stands in `hull`. Beyond it a speed
is an estimate, with the spread of such kinds when they were left out. So it is where `kept` says that ranges did not hold.

The figures stand in `calibration.toml`, which `python -m tools.calibrate` writes from published measurements.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gpuledger.message import Label
from gpuledger.transform.speed.cards import CardTraits
from gpuledger.transform.speed.work import Work

FILE = Path(__file__).with_name("calibration.toml")

#: In 80 of 100 cases a normal variable lies within ± this many standard deviations.
EIGHTY_PERCENT = 1.2816

#: The standard deviation (natural logarithm) that is added if no card of that vendor was measured. Own choice: Ollama's
#: measurements of NVIDIA and AMD cards differ by about as much.
_OTHER_VENDOR = 0.4
#: How many times as much as was measured is still called covered.
_NEARLY = 1.1
#: A range whose upper end is more than this many times its lower one is called an estimate.
WIDEST = 2.5
#: The least share of held-out measurements in their range with which a kind of them is called calibrated.
KEPT = 0.75


@dataclass(frozen=True, slots=True)
class DecodeTimes:
    """The parts of the time of a written token: seconds for each byte of weights, each byte of the cache, each layer, and
    each card after the first.
    """

    a_byte: float
    a_cached_byte: float
    a_layer: float
    a_handover: float

    def seconds(self, weights: float, cache: float, layers: int, count: int) -> float:
        """The time of a token on `count` cards that share the layers, from the bytes of weights and cache that it reads."""
        return (
            self.a_byte * weights + self.a_cached_byte * cache + self.a_layer * layers + self.a_handover * (count - 1)
        )


class Case(NamedTuple):
    """What is measured or asked: `decode`, `prefill` or `served` on such a card with a `kind` of model."""

    what: str
    card: CardTraits
    kind: str = ""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds that are told apart when ranges are checked: by maker and by kind of model."""
        return (self.card.vendor, self.kind)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted figures of one engine.

    `values` holds its parameters, and `groups` the effects of maker, architecture, chip and card (natural logarithms).
    `spread` holds the standard deviations of held-out residuals by how near the nearest measurement is. `hull` has, for
    each architecture and kind of model that were measured together (`Ampere dense`), the most tokens that were held on a
    card of that maker, and the most users. `kept` has, for each kind of measurements (see Case), the share on left-out
    cards that lay in their range, and their standard deviation where that is larger (else 0). `shapes` lists the models
    that were measured (see Work).
    """

    engine: str
    values: Mapping[str, float]
    groups: Mapping[str, Mapping[str, float]]
    spread: Mapping[str, float]
    hull: Mapping[str, Mapping[str, Sequence[int]]]
    kept: Mapping[str, Mapping[str, Sequence[float]]]
    measurements: int
    cards: int
    shapes: tuple[str, ...]
    source: Label

    def decode_times(self, card: CardTraits, work: Work) -> DecodeTimes:
        """The parts of the time of a token on `card`."""
        v = self.values
        ln_a = v["memory"] + v.get(f"memory_{card.memory}", 0.0) + (v["memory_ecc"] if card.ecc else 0.0)
        ln_a += self._effect("decode_chip", card.chip)
        common = math.exp(
            self._effect("decode_architecture", card.architecture)
            + self._effect("decode_vendor", card.vendor)
            + self._effect("decode_card", card.gpu_id)
        )
        mixture = v["layer_mixture"] + self._effect("decode_mixture_vendor", card.vendor)
        longer = mixture * work.is_mixture + v["layer_state"] * work.kind.startswith("linear")
        a_byte = math.exp(ln_a) / (card.bandwidth_gb_s * 1e9)
        cache = math.exp(v["cache"] + self._effect("decode_cache_vendor", card.vendor))
        return DecodeTimes(
            a_byte=common * a_byte,
            a_cached_byte=common * cache * (a_byte + math.exp(v["cache_clock"]) * 1e-12 / card.clock_ghz),
            a_layer=common * math.exp(v["layer"] + longer) * 1e-6 / card.clock_ghz,
            a_handover=common * math.exp(v["handover"]) * 1e-6,
        )

    def prefill_tokens_per_s(self, card: CardTraits, work: Work, count: int, chunk_tokens: int) -> float | None:
        """Prompt tokens a second, None if the rate of the card is not known."""
        if not card.tflops or not work.flops_a_token:
            return None
        v = self.values
        ln = v[f"prefill_{work.weights}"] + v["prefill_rate"] * math.log(card.tflops / 100)
        ln += v["prefill_bandwidth"] * math.log(card.bandwidth_gb_s / 1000)
        ln += v["prefill_watts"] * math.log(card.watts / 300)
        ln += v[f"prefill_hidden_{work.weights}"] * math.log(work.hidden / 4096)
        mixture = v["prefill_mixture"] + self._effect("prefill_mixture_vendor", card.vendor)
        slower = math.exp(v["prefill_state"] * work.kind.startswith("linear") - mixture * work.is_mixture)
        attention = math.exp(v["prefill_attention"]) * work.attention_flops_a_token
        seconds = (slower * work.flops_a_token + attention) / (math.exp(ln) * 1e12)
        seconds += math.exp(v["prefill_piece"]) * work.piece_bytes / (card.bandwidth_gb_s * 1e9)
        ln = v["prefill_cards"] * math.log(count) + self._effect("prefill_card", card.gpu_id)
        ln += self._effect("prefill_architecture", card.architecture) + self._effect("prefill_vendor", card.vendor)
        return math.exp(ln) * pipeline_speedup(work.prompt_tokens, count, chunk_tokens) / seconds

    def covers(self, case: Case, tokens: int, users: int = 1) -> bool:
        """Whether such a model was measured on the architecture of the card, with as many `tokens` and `users` on cards of
        its maker.
        """
        most_tokens, most_users = self.hull[case.what].get(f"{case.card.architecture} {case.kind}", (0, 0))
        return tokens <= _NEARLY * most_tokens and users <= most_users

    def keeps(self, case: Case) -> bool:
        """Whether enough ranges of such measurements held when cards were left out."""
        return all(share >= KEPT for kind, (share, _) in self.kept.get(case.what, {}).items() if kind in case.kinds)

    def doubt(self, case: Case) -> float:
        """The standard deviation of such measurements if the ranges of a kind of them did not hold, 0 if they did."""
        kept = self.kept.get(case.what, {}).items()
        return max((off for kind, (share, off) in kept if kind in case.kinds and share < KEPT), default=0.0)

    def nearest(self, what: str, card: CardTraits) -> str:
        """What was measured for `what`: the `card` itself, its `architecture`, or `none`."""
        if card.gpu_id in self.groups[f"{what}_card"]:
            return "card"
        return "architecture" if card.architecture in self.groups[f"{what}_architecture"] else "none"

    def deviation(self, case: Case, work: Work, tokens: int, cache_share: float = 0.0) -> float:
        """The standard deviation of the logarithm of a speed: that of the card, and more if the model was not measured, and
        for `cache_share`, the part of the time in which the cache is read.
        """
        parts = [self.card_deviation(case, is_inside=self.covers(case, tokens))]
        if work.shape not in self.shapes:
            parts.append(self.spread[f"{case.what}_models"])
        if cache_share:
            parts.append(self.spread["decode_cache"] * cache_share)
        return math.hypot(*parts)

    def card_deviation(self, case: Case, *, is_inside: bool) -> float:
        """The standard deviation of held-out cards that were as near to a measured card, of a kind of model where enough of
        it was measured. It is larger outside of what was measured, and if no card of the vendor was, and no smaller than
        that of measurements whose ranges did not hold.
        """
        what, card, kind = case
        nearest = self.nearest(what, card)
        if nearest == "card" and not is_inside:
            nearest = "architecture"
        if what == "decode" and nearest != "none":
            nearest += "_hbm" if card.memory == "hbm" else "_other"
        parts = [self.spread.get(f"{what}_{nearest}_{kind}", self.spread[f"{what}_{nearest}"])]
        if not is_inside and nearest != "none":
            parts.append(self.spread[f"{what}_outside"])
        if card.vendor != "NVIDIA" and card.vendor not in self.groups[f"{what}_vendor"]:
            parts.append(_OTHER_VENDOR)
        return max(math.hypot(*parts), self.doubt(case))

    def _effect(self, group: str, name: str) -> float:
        return self.groups.get(group, {}).get(name, 0.0)


def basis(deviation: float, *, is_covered: bool) -> Literal["calibrated", "estimated"]:
    """What a fitted speed is called: `calibrated` only where its kind was measured, and its range is narrow enough."""
    is_narrow = 2 * EIGHTY_PERCENT * deviation <= math.log(WIDEST)
    return "calibrated" if is_covered and is_narrow else "estimated"


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
    return {
        name: Calibration(name, **entry | {"shapes": tuple(entry["shapes"]), "source": Label(entry["source"])})
        for name, entry in entries.items()
    }
