"""Learns from the measurements of a warehouse, in addition to the calibration that ships with the program.

The fit says how far a program differs from its expected speed on all cards, on the cards of an architecture, and on a card:

    ln(measured / expected) = program + architecture + card + residual

An effect shrinks towards zero if there are few measurements (ridge regression; Hoerl & Kennard 1970), and a row that is far
off has a limited weight (Huber 1964). Measurements with one user and with several users at once are fitted separately.
`core.calibration` keeps the effects and the residuals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Literal, NamedTuple

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT
from gpuledger.transform.speed.engines import engines

Level = Literal["engine", "architecture", "card"]
LEVELS: tuple[Level, ...] = ("engine", "architecture", "card")

#: How far from zero we expect the effects of each level before any measurement (natural logarithms). A program that was
#: not measured for the calibration may differ a lot. A program that was measured differs little (_CALIBRATED).
_BELIEVED: Mapping[Level, float] = MappingProxyType({"engine": 0.4, "architecture": 0.15, "card": 0.1})
_CALIBRATED = 0.1
#: How far from zero we expect the residual of one row, and from which residual on a row counts as far off.
_RESIDUAL, _FAR = 0.1, 0.3
#: The standard deviation of the next speed by the nearest measurement, used if fewer than `_ENOUGH` cards were measured: for
#: another model on the same card, for another card of the architecture, and for another architecture.
_UNSURE: Mapping[Level, float] = MappingProxyType({"card": 0.22, "architecture": 0.3, "engine": 0.4})
_ENOUGH = 4
#: The standard deviation that is added if all measurements are of the same model, as for the measurements of other
#: publishers (calibration.toml).
_OTHER_MODELS = 0.2
_ROUNDS = 60


class Kind(NamedTuple):
    """The measurements of one fit: those of a program, for one sequence or for several at once."""

    engine: str
    for_several: bool


class Point(NamedTuple):
    """A measurement. `ratio` is ln(measured / expected) of a card running a model. `name` identifies the measurement."""

    kind: Kind
    gpu_id: str
    architecture: str
    model_id: str
    ratio: float
    name: str

    def at(self, level: Level) -> str:
        """The program, architecture or card of this measurement, depending on the level."""
        return {"engine": self.kind.engine, "architecture": self.architecture, "card": self.gpu_id}[level]


class Effect(NamedTuple):
    """The effect of one program, architecture or card (natural logarithm).

    `deviation` is the standard deviation of the next speed that is predicted from it, and `measurements` is the number of
    measurements behind it.
    """

    kind: Kind
    level: Level
    name: str
    effect: float
    deviation: float
    measurements: int


class Residual(NamedTuple):
    """How far a measurement is off (natural logarithm) if the fit leaves its card out."""

    point: Point
    off: float


class Shift(NamedTuple):
    """What is known about a program on a card: the sum of the effects, and the effect of the nearest level."""

    effect: float
    nearest: Effect

    @property
    def factor(self) -> float:
        """How many times as fast the program is as expected without these measurements."""
        return math.exp(self.effect)

    @property
    def is_near(self) -> bool:
        """Whether the card itself, or another card of its architecture, was measured."""
        return self.nearest.level != "engine"


@dataclass(frozen=True, slots=True)
class Learned:
    """The effects that the measurements of a warehouse show."""

    effects: Mapping[tuple[Kind, Level, str], Effect] = field(default_factory=dict)

    @classmethod
    def of(cls, effects: Iterable[Effect]) -> Learned:
        """Indexes the effects by kind, level and name."""
        return cls({(effect.kind, effect.level, effect.name): effect for effect in effects})

    def shift(self, engine: str, gpu: Gpu, users: int) -> Shift | None:
        """What the effects say about a program on a card, None if this program was not measured."""
        kind = Kind(engine, users > 1)
        names: Mapping[Level, str] = {"engine": engine, "architecture": gpu.architecture or "", "card": gpu.gpu_id}
        effects = [effect for level in LEVELS if (effect := self.effects.get((kind, level, names[level]))) is not None]
        return Shift(sum(effect.effect for effect in effects), effects[-1]) if effects else None

    # A plan is a key of caches, and it holds this object. A process has only one such object, so its identity will do.
    def __hash__(self) -> int:
        return id(self)


NOTHING_LEARNED = Learned()


def fit(points: Iterable[Point]) -> tuple[list[Effect], list[Residual]]:
    """The effects of every kind of measurement, and how far each measurement is off if the fit leaves its card out."""
    by_kind: dict[Kind, list[Point]] = {}
    for point in points:
        by_kind.setdefault(point.kind, []).append(point)
    effects: list[Effect] = []
    residuals: list[Residual] = []
    for kind, kind_points in sorted(by_kind.items()):
        fitted = _effects(kind_points)
        kind_residuals = [
            residual for card in sorted({p.gpu_id for p in kind_points}) for residual in _left_out(kind_points, card)
        ]
        residuals += kind_residuals
        deviations = _deviations(kind_residuals)
        for (level, name), effect in fitted.items():
            count = sum(point.at(level) == name for point in kind_points)
            effects.append(Effect(kind, level, name, effect, deviations[level], count))
    return effects, residuals


def _left_out(points: Sequence[Point], card: str) -> Iterable[Residual]:
    others = _effects([point for point in points if point.gpu_id != card])
    for point in points:
        if point.gpu_id == card:
            yield Residual(point, point.ratio - sum(others.get((level, point.at(level)), 0.0) for level in LEVELS))


def _effects(points: Sequence[Point]) -> dict[tuple[Level, str], float]:
    """Fits each effect in turn to what the other effects do not explain, in enough rounds for all to settle."""
    effects = dict.fromkeys(((level, point.at(level)) for level in LEVELS for point in points), 0.0)
    for _ in range(_ROUNDS):
        for level, name in effects:
            members = [point for point in points if point.at(level) == name]
            remainders = [
                p.ratio - sum(effects[other, p.at(other)] for other in LEVELS if other != level) for p in members
            ]
            weights = [
                min(1.0, _FAR / max(abs(remainder - effects[level, name]), 1e-9)) / _RESIDUAL**2
                for remainder in remainders
            ]
            total = sum(weight * remainder for weight, remainder in zip(weights, remainders, strict=True))
            effects[level, name] = total / (sum(weights) + 1 / _believed(level, name) ** 2)
    return effects


def _believed(level: Level, name: str) -> float:
    known = engines().get(name) if level == "engine" else None
    return _CALIBRATED if known is not None and known.calibrated_as else _BELIEVED[level]


def _deviations(residuals: Sequence[Residual]) -> Mapping[Level, float]:
    """The standard deviation of the next speed, by the nearest level that was measured.

    With enough cards it comes from the residuals of cards that were left out, and every card has the same weight.
    """
    cards: dict[str, list[float]] = {}
    for residual in residuals:
        cards.setdefault(residual.point.gpu_id, []).append(abs(residual.off))
    if len(cards) < _ENOUGH:
        return _UNSURE
    weighted = sorted((off, 1 / len(offs)) for offs in cards.values() for off in offs)
    needed_weight = min(len(cards), 0.8 * (len(cards) + 1)) - 1e-9
    weight_so_far = accumulate(weight for _, weight in weighted)
    bound = next(off for (off, _), total in zip(weighted, weight_so_far, strict=True) if total >= needed_weight)
    spread = max(_RESIDUAL, bound / EIGHTY_PERCENT)
    if len({residual.point.model_id for residual in residuals}) == 1:
        spread = math.hypot(spread, _OTHER_MODELS)
    return {
        "engine": max(spread, _UNSURE["architecture"]),
        "architecture": spread,
        "card": min(spread, _UNSURE["card"]),
    }


def engine_named(software: str | None) -> str | None:
    """The engine that a publication calls `software` ("vLLM 0.9.1", "llama.cpp b4567"), None if we do not know it."""
    written = (software or "").strip().lower().replace(" ", "").replace("_", "-")
    return next((name for name in engines() if written.startswith(name)), None)
