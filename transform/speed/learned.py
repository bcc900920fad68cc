"""What the measurements of a warehouse say beside the calibration that ships: how far a program lies from what is expected
of it, on all cards, on those of an architecture, and on one.

    ln(measured / expected) = program + architecture + card + what is left

Each effect shrinks to none where little was measured (ridge; Hoerl & Kennard 1970), and a row that is far off pulls like a
near one (Huber 1964). One person and several at once are fitted apart. `core.calibration` keeps the effects and what is
left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Literal, NamedTuple

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.engines import engines

Level = Literal["engine", "architecture", "card"]
LEVELS: tuple[Level, ...] = ("engine", "architecture", "card")

#: How far the effects of a level are believed to lie from none before any measurement (natural logarithms): a program that
#: nobody measured for the calibration may lie anywhere, one that was measured lies near it.
_BELIEVED: Mapping[Level, float] = MappingProxyType({"engine": 0.4, "architecture": 0.15, "card": 0.1})
_CALIBRATED = 0.1
#: The same of what is left of one row, and where a row begins to count as far off.
_LEFT, _FAR = 0.1, 0.3
#: Standard deviations of the next speed by the nearest measurement, where fewer cards than `_ENOUGH` say it themselves:
#: another model on the same card, another card of the architecture, another architecture.
_UNSURE: Mapping[Level, float] = MappingProxyType({"card": 0.22, "architecture": 0.3, "engine": 0.4})
_ENOUGH = 4
#: What is added where all measurements are of one model; as between those of other publishers (calibration.toml).
_OTHER_MODELS = 0.2
#: A normal variable lies within ± so many standard deviations in 80 of 100 cases.
_EIGHTY_PERCENT = 1.2816
_ROUNDS = 60


class Kind(NamedTuple):
    """What is fitted apart: a program, for one sequence or for several at once."""

    engine: str
    for_several: bool


class Point(NamedTuple):
    """A measurement: ln(measured / expected) of a card under a model. `name` says which it is."""

    kind: Kind
    gpu_id: str
    architecture: str
    model_id: str
    ratio: float
    name: str

    def at(self, level: Level) -> str:
        """Its member of a level."""
        return {"engine": self.kind.engine, "architecture": self.architecture, "card": self.gpu_id}[level]


class Effect(NamedTuple):
    """A member of a level: natural logarithm, the standard deviation of the next speed that rests on it, and of how many
    measurements.
    """

    kind: Kind
    level: Level
    name: str
    effect: float
    deviation: float
    measurements: int


class Residual(NamedTuple):
    """What a measurement is off by (natural logarithm) when its card is left out of the fit."""

    point: Point
    off: float


class Shift(NamedTuple):
    """What is known of a card under a program: the sum of its effects, and the nearest of them."""

    effect: float
    nearest: Effect

    @property
    def factor(self) -> float:
        """How many times as fast as expected otherwise."""
        return math.exp(self.effect)

    @property
    def is_near(self) -> bool:
        """Whether the card itself, or another one of its architecture, was measured."""
        return self.nearest.level != "engine"


@dataclass(frozen=True, slots=True)
class Learned:
    """The effects of a warehouse."""

    effects: Mapping[tuple[Kind, Level, str], Effect] = field(default_factory=dict)

    @classmethod
    def of(cls, effects: Iterable[Effect]) -> Learned:
        """By what they are of."""
        return cls({(one.kind, one.level, one.name): one for one in effects})

    def shift(self, engine: str, gpu: Gpu, users: int) -> Shift | None:
        """What they say of a card; None where this program was not measured."""
        kind = Kind(engine, users > 1)
        names: Mapping[Level, str] = {"engine": engine, "architecture": gpu.architecture or "", "card": gpu.gpu_id}
        found = [one for level in LEVELS if (one := self.effects.get((kind, level, names[level]))) is not None]
        return Shift(sum(one.effect for one in found), found[-1]) if found else None

    # A plan is a key of caches; what was learned is one object in a process.
    def __hash__(self) -> int:
        return id(self)


NOTHING_LEARNED = Learned()


def fit(points: Iterable[Point]) -> tuple[list[Effect], list[Residual]]:
    """The effects of every kind of measurement, and what each is off by when its card is left out."""
    by_kind: dict[Kind, list[Point]] = {}
    for point in points:
        by_kind.setdefault(point.kind, []).append(point)
    effects: list[Effect] = []
    residuals: list[Residual] = []
    for kind, ours in sorted(by_kind.items()):
        fitted = _effects(ours)
        left = [one for card in sorted({p.gpu_id for p in ours}) for one in _left_out(ours, card)]
        residuals += left
        deviations = _deviations(left)
        for (level, name), effect in fitted.items():
            count = sum(point.at(level) == name for point in ours)
            effects.append(Effect(kind, level, name, effect, deviations[level], count))
    return effects, residuals


def _left_out(points: Sequence[Point], card: str) -> Iterable[Residual]:
    rest = _effects([point for point in points if point.gpu_id != card])
    for point in points:
        if point.gpu_id == card:
            yield Residual(point, point.ratio - sum(rest.get((level, point.at(level)), 0.0) for level in LEVELS))


def _effects(points: Sequence[Point]) -> dict[tuple[Level, str], float]:
    """Each effect in turn from what the others leave, until they stand."""
    effects = dict.fromkeys(((level, point.at(level)) for level in LEVELS for point in points), 0.0)
    for _ in range(_ROUNDS):
        for level, name in effects:
            mine = [point for point in points if point.at(level) == name]
            rests = [p.ratio - sum(effects[other, p.at(other)] for other in LEVELS if other != level) for p in mine]
            weights = [min(1.0, _FAR / max(abs(rest - effects[level, name]), 1e-9)) / _LEFT**2 for rest in rests]
            total = sum(weight * rest for weight, rest in zip(weights, rests, strict=True))
            effects[level, name] = total / (sum(weights) + 1 / _believed(level, name) ** 2)
    return effects


def _believed(level: Level, name: str) -> float:
    known = engines().get(name) if level == "engine" else None
    return _CALIBRATED if known is not None and known.calibrated_as else _BELIEVED[level]


def _deviations(left: Sequence[Residual]) -> Mapping[Level, float]:
    """By the nearest measurement: what was left out says it where there are cards enough, every card weighing the same."""
    cards: dict[str, list[float]] = {}
    for one in left:
        cards.setdefault(one.point.gpu_id, []).append(abs(one.off))
    if len(cards) < _ENOUGH:
        return _UNSURE
    weighted = sorted((off, 1 / len(offs)) for offs in cards.values() for off in offs)
    wanted = min(len(cards), 0.8 * (len(cards) + 1)) - 1e-9
    reached = accumulate(weight for _, weight in weighted)
    holding = next(off for (off, _), sum_ in zip(weighted, reached, strict=True) if sum_ >= wanted)
    spread = max(_LEFT, holding / _EIGHTY_PERCENT)
    if len({one.point.model_id for one in left}) == 1:
        spread = math.hypot(spread, _OTHER_MODELS)
    return {
        "engine": max(spread, _UNSURE["architecture"]),
        "architecture": spread,
        "card": min(spread, _UNSURE["card"]),
    }


def engine_named(software: str | None) -> str | None:
    """The program that a publication calls `software` ("vLLM 0.9.1", "llama.cpp b4567"); None where it is none of ours."""
    words = (software or "").strip().lower().replace(" ", "").replace("_", "-")
    return next((name for name in engines() if words.startswith(name)), None)
