"""Fits `transform/speed/calibration.toml` to published measurements: `python -m tools.calibrate [FOLDER]`.

FOLDER holds what `tools/speeds.py` reads (default: ../shared/data/benchmarks). Only the fitted figures and the spread of
held-out residuals are kept. With `--check` nothing is written: every card in turn is left out and predicted from the others,
and how many of the measurements lie in their range is printed, as docs/speeds.md shows it.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import diffusion
from gpuledger.transform.speed import pieces, served
from gpuledger.transform.speed.calibration import (
    EIGHTY_PERCENT,
    FILE,
    KEPT,
    WIDEST,
    Calibration,
    Case,
    calibrations,
)
from gpuledger.transform.speed.cards import matrix_tflops
from gpuledger.transform.speed.work import PIECE_TOKENS, ServedWork
from tools.speeds import Point, points

FOLDER = Path(__file__).parents[1] / "../shared/data/benchmarks"
SERVERS = "served"


@dataclass(frozen=True, slots=True)
class Fit:
    """What is fitted for one kind of measurement.

    `priors` has the start and the standard deviation of what is believed of each figure before any measurement, and
    `groups` how far effects are believed to lie from none. `row` is that of one row, when its card is known.
    """

    priors: Mapping[str, tuple[float, float]]
    groups: Mapping[str, float]
    row: float


class Left(NamedTuple):
    """How far a measurement is off, ln(measured / expected), if the fit leaves it out, and if the rest covers its kind."""

    point: Point
    off: float
    is_covered: bool


#: Times in microseconds (a layer: at 1 GHz; a step of a server: in milliseconds). What begins with `old_` is added to the
#: value behind it for llama.cpp of 2024, and not kept.
FITS = {
    "decode": Fit(
        priors={
            "memory": (0.08, 0.15), "memory_hbm": (0.35, 0.4), "memory_gddr": (0.0, 1e-3), "memory_shared": (0.0, 0.15),
            "memory_ecc": (0.1, 0.1), "cache": (0.2, 0.3), "cache_clock": (0.5, 1.0),
            "layer": (math.log(180), 0.5), "layer_mixture": (0.3, 0.5), "layer_state": (0.3, 0.5),
            "handover": (math.log(300), 0.7),
            "old_layer": (0.2, 0.3),
        },
        groups={
            "decode_vendor": 0.25, "decode_cache_vendor": 0.5, "decode_mixture_vendor": 0.4,
            "decode_architecture": 0.08, "decode_chip": 0.15, "decode_card": 0.06,
        },
        row=0.06,
    ),
    "prefill": Fit(
        priors={
            "prefill_f16": (math.log(60), 0.7), "prefill_packed": (math.log(50), 0.7), "prefill_rate": (0.6, 0.3),
            "prefill_bandwidth": (0.3, 0.3), "prefill_hidden_f16": (0.3, 0.3), "prefill_hidden_packed": (0.1, 0.3),
            "prefill_cards": (-0.1, 0.1), "prefill_watts": (0.3, 0.3), "prefill_attention": (0.5, 1.0),
            "prefill_mixture": (-0.4, 0.4), "prefill_state": (0.1, 0.3),
            "prefill_piece": (0.2, 0.3),
            "old_prefill_attention": (1.0, 0.7), "old_prefill_packed": (-0.2, 0.3), "old_prefill_f16": (0.0, 0.3),
        },
        groups={
            "prefill_vendor": 0.3, "prefill_mixture_vendor": 0.4, "prefill_architecture": 0.15, "prefill_card": 0.12,
        },
        row=0.12,
    ),
    "serve": Fit(
        priors={
            "memory": (0.15, 0.2), "experts": (-0.2, 0.3), "cache": (0.3, 0.4), "compute": (0.7, 0.4), "narrow": (0.3, 0.3),
            "exchange": (0.0, 0.5), "exchange_start": (math.log(4), 0.7), "layer": (math.log(8), 0.7),
            "layer_mixture": (math.log(15), 0.7), "step": (math.log(1.5), 0.8), "prompt": (0.7, 0.4),
            "mixture": (0.4, 0.4), "layer_state": (math.log(15), 1.0), "layer_latent": (math.log(15), 1.0),
        },
        groups={
            "served_engine": 0.2, "served_vendor": 0.3, "served_packed_vendor": 0.4, "served_memory": 0.25,
            "served_architecture": 0.2,
            "served_card": 0.12,
        },
        row=0.2,
    ),
}  # fmt: skip
#: What the effects and the hull of a kind of measurement are called.
_EFFECTS = {"decode": "decode", "prefill": "prefill", "serve": "served"}
_LEVELS: Mapping[str, Callable[[Point], str]] = {
    "vendor": lambda p: p.card.vendor, "architecture": lambda p: p.card.architecture, "chip": lambda p: p.card.chip,
    "card": lambda p: p.card.gpu_id, "engine": lambda p: p.engine, "memory": lambda p: p.card.memory,
}  # fmt: skip
#: No range is narrower than this: two people's runs of one benchmark on the same card differ by as much.
_FLOOR = 0.07
#: The same for an architecture that nobody measured.
_UNKNOWN = 0.2
#: Of so many held-out measurements a range is to hold the new one.
_HELD = 0.8
#: Fewer cards than this say nothing of a next card by themselves: then their rows count one by one.
_FEWEST_CARDS = 4
#: From so many rows on a kind of model has a range of its own.
_ENOUGH = 8
#: With so many rows of so many cards left out, a kind of measurements bears the promise of its ranges.
_BEARING_ROWS, _BEARING_CARDS = 10, 3
#: A model is one that was measured on its own if so many rows of it are there.
_OWN_ROWS = 10


def fit(
    found: Sequence[Point], engine: str, source: str, what: str = "decode", near: Calibration | None = None
) -> Calibration:
    """The calibration of `engine` from its points; effects shrink to none where a group has few.

    `near` is a fit to nearly the same points, from which the search begins.
    """
    ours, asked = of_kind(found, engine, what), FITS[what]
    names = list(asked.priors)
    groups = {
        name: sorted(
            {_LEVELS[name.split("_")[-1]](p) for p in ours} - ({"NVIDIA"} if name.endswith("vendor") else set())
        )
        for name in asked.groups
    }
    starts, sizes = ([asked.priors[n][part] for n in names] for part in (0, 1))
    for name, members in groups.items():
        starts += [0.0] * len(members)
        sizes += [asked.groups[name]] * len(members)
    start, size = np.array(starts), np.array(sizes)
    cards, hull = len({p.card.gpu_id for p in ours}), {_EFFECTS[what]: hull_of(ours)}

    def unpack(x: np.ndarray) -> Calibration:
        values, rest = dict(zip(names, map(float, x), strict=False)), [float(v) for v in x[len(names) :]]
        effects: dict[str, dict[str, float]] = {}
        for name, members in groups.items():
            effects[name], rest = dict(zip(members, rest, strict=False)), rest[len(members) :]
        return Calibration(engine, values, effects, {}, hull, {}, len(ours), cards, (), source)

    def residuals(x: np.ndarray) -> np.ndarray:
        one = unpack(x)
        rows = np.array([math.log(p.rate / predicted(one, p)) / asked.row for p in ours])
        # A row that is far off (soft L1) pulls like a near one: a slip in a table must not bend the rest.
        rows = np.sign(rows) * np.sqrt(2 * (np.sqrt(1 + rows**2) - 1))
        return np.concatenate([rows, (x - start) / size])

    members_of = list(_members(ours, names, groups))

    def slopes(x: np.ndarray) -> np.ndarray:
        """How the residuals change with each of `x`, by two points as scipy's own: but effects of one kind are moved at
        once, since each row has one of them.
        """
        moved = x + math.sqrt(np.finfo(float).eps) * np.where(x >= 0, 1.0, -1.0) * np.maximum(1.0, np.abs(x))
        found, here = np.zeros((len(ours) + len(x), len(x))), residuals(x)
        for together, of_row in members_of:
            at = x.copy()
            at[together] = moved[together]
            change = residuals(at) - here
            for row, column in of_row:
                found[row, column] = change[row] / (at[column] - x[column])
            for column in together:
                found[len(ours) + column, column] = change[len(ours) + column] / (at[column] - x[column])
        return found

    begin = start
    if near is not None:
        effects = [near.groups[name][member] for name, members in groups.items() for member in members]
        begin = np.array([*(near.values[name] for name in names), *effects])
    return unpack(least_squares(residuals, begin, jac=slopes).x)


def hull_of(ours: Sequence[Point]) -> dict[str, tuple[int, int]]:
    """The architectures and kinds of models that were measured together, with the most tokens and the most users of a
    kind on cards of the same maker.
    """
    most: dict[tuple[str, str], tuple[int, int]] = {}
    for p in ours:
        tokens, users = most.get((p.card.vendor, p.work.kind), (0, 0))
        most[p.card.vendor, p.work.kind] = max(tokens, p.held), max(users, p.users)
    return {f"{p.card.architecture} {p.work.kind}": most[p.card.vendor, p.work.kind] for p in ours}


def of_kind(found: Sequence[Point], engine: str, what: str) -> list[Point]:
    """The points of an engine (of all servers together) for which its formula has what it asks for."""
    return [p for p in found if p.what == what and (what == "serve" or (p.engine == engine and predicted_possible(p)))]


def _members(
    ours: Sequence[Point], names: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> Iterator[tuple[list[int], list[tuple[int, int]]]]:
    """The places of what is fitted that may be moved at once, and the rows that each of them has a part in: (row, place)."""
    for place in range(len(names)):
        yield [place], [(row, place) for row in range(len(ours))]
    first = len(names)
    for name, members in groups.items():
        places = {member: first + number for number, member in enumerate(members)}
        of_rows = [(row, _LEVELS[name.split("_")[-1]](point)) for row, point in enumerate(ours)]
        yield [*places.values()], [(row, places[member]) for row, member in of_rows if member in places]
        first += len(members)


def predicted(calibration: Calibration, point: Point) -> float:
    """Tokens a second that the calibration expects."""
    if point.is_old:
        v = calibration.values
        old = {name[4:]: v[name[4:]] + more for name, more in v.items() if name.startswith("old_")}
        calibration = replace(calibration, values={**v, **old})
    if isinstance(point.work, ServedWork):
        step = sum(served.step_parts(calibration, point.engine, point.card, point.work).values())
        prompt = served.prompt_seconds(calibration, point.engine, point.card, point.work) or 0.0
        if point.phase == "reading":
            return point.work.prompt_tokens / prompt if prompt else math.nan
        if point.phase == "writing":
            return point.users / step
        return point.users * point.output / (point.output * step + point.users * prompt)
    if point.what == "decode":
        work = point.work
        times = calibration.decode_times(point.card, work)
        return 1 / times.seconds(work.weight_bytes, work.cache_bytes, work.layers, point.count)
    rate = calibration.prefill_tokens_per_s(point.card, point.work, point.count, PIECE_TOKENS)
    return rate if rate else math.nan


def left_out(found: Sequence[Point], engine: str, what: str, level: str) -> list[Left]:
    """How far every point is off in a fit without its `card`, its `architecture`, its `model` (of models
    with few rows), or its `setup`: the same card with as many of it or, where it was measured with one count alone, under
    the same model.

    Of setups only cards with several are answered for: the others are cards left out.
    """
    ours = of_kind(found, engine, what)
    counts = {p.card.gpu_id: len({q.count for q in ours if q.card.gpu_id == p.card.gpu_id}) for p in ours}
    keys: dict[str, Callable[[Point], str]] = {
        "card": lambda p: p.card.gpu_id,
        "architecture": lambda p: p.card.architecture,
        "model": lambda p: p.work.shape,
        "setup": lambda p: f"{p.card.gpu_id} {p.count if counts[p.card.gpu_id] > 1 else p.work.shape}",
    }
    key, of_all = keys[level], fit(ours, engine, "", what)
    answers = []
    for name in sorted({key(p) for p in ours}):
        rest = [p for p in ours if key(p) != name]
        held = [p for p in ours if key(p) == name]
        if level in ("setup", "model"):
            held = [p for p in held if p.card.gpu_id in {q.card.gpu_id for q in rest}]
        if not held or not rest or (level == "model" and len(held) >= _OWN_ROWS):
            continue
        one = fit(rest, engine, "", what, of_all)
        answers += [Left(p, math.log(p.rate / predicted(one, p)), is_covered(one, p)) for p in held]
    return answers


def is_covered(calibration: Calibration, p: Point) -> bool:
    """Whether the points behind a calibration cover the kind of a point."""
    return calibration.covers(case_of(p), p.held, p.users)


def case_of(p: Point) -> Case:
    """What a point is a measurement of."""
    return Case(_EFFECTS[p.what], p.card, p.work.kind)


def predicted_possible(point: Point) -> bool:
    """Whether the card has the figures that the model of its speed asks for."""
    return point.what == "decode" or bool(point.card.tflops)


def whole(found: Sequence[Point], engine: str, source: str) -> Calibration:
    """Decode and prefill of an engine in one, with the spreads of what was left out."""
    decode = fit(found, engine, source)
    spread, ranges = spreads(found, engine, "decode", ("hbm", "other"))
    one = replace(decode, spread=spread, kept={"decode": ranges})
    if of_kind(found, engine, "prefill"):
        prefill, (spread, ranges) = fit(found, engine, source, "prefill"), spreads(found, engine, "prefill")
        one = replace(one, values={**one.values, **prefill.values}, groups={**one.groups, **prefill.groups},
                      spread={**one.spread, **spread}, hull={**one.hull, **prefill.hull},
                      kept={**one.kept, "prefill": ranges})  # fmt: skip
    one = replace(one, values={name: value for name, value in one.values.items() if not name.startswith("old_")})
    ours = [*of_kind(found, engine, "decode"), *of_kind(found, engine, "prefill")]
    return _described(one, ours)


def spreads(
    found: Sequence[Point], engine: str, what: str, memories: Sequence[str] = ()
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """The standard deviations of what was left out: by how near the nearest measurement is (where asked for, by kind of
    `memories`), and what being `outside` of what was measured, or another of the `models`, adds to it. And what of it was
    `kept`.
    """
    name, spread = _EFFECTS[what], {}
    # Setups of servers that were left out share the software of those that were not, so they tell nothing of another's.
    by_card, by_setup = (
        left_out(found, engine, what, level) for level in ("card", "card" if what == "serve" else "setup")
    )
    inside = [row for row in by_card if row.is_covered]
    for memory in memories or ("",):
        end = f"_{memory}" if memory else ""
        cards, setups = (
            [row for row in rows if not memory or (row.point.card.memory == "hbm") == (memory == "hbm")]
            for rows in (inside, by_setup)
        )
        spread[f"{name}_architecture{end}"] = held_out_spread(cards) if cards else 0.3
        known = held_out_spread(setups) if setups else math.inf
        spread[f"{name}_card{end}"] = min(spread[f"{name}_architecture{end}"], known)
        spread |= of_kinds(cards, f"{name}_architecture{end}") | of_kinds(setups, f"{name}_card{end}")
    usual, known = held_out_spread(inside), min(held_out_spread(by_setup), held_out_spread(inside))
    outside = [row for row in by_card if not row.is_covered]
    spread[f"{name}_outside"] = beyond(outside, usual, by_card=True)
    spread[f"{name}_none"] = max(_UNKNOWN, held_out_spread(left_out(found, engine, what, "architecture")))
    models = left_out(found, engine, what, "model")
    if what == "serve":  # most models of servers were measured on one card alone, so they were left out with it
        known = held_out_spread(
            [row for row in by_card if row.point.work.shape in {m.point.work.shape for m in models}]
        )
    spread[f"{name}_models"] = beyond(models, known)
    return spread, kept(by_card, spread[f"{name}_models"])


def kept(rows: Sequence[Left], models: float) -> dict[str, tuple[float, float]]:
    """Of each kind of measurements the share in their range when their card was left out, and their standard deviation if
    that range, or that of all of them, calibrated or not, did not hold: else 0.

    The share is of those ranges that would be called calibrated, without the kinds that fell short more; 0 if they are too
    few to bear a promise.
    """
    widths = {id(row): EIGHTY_PERCENT * spread_without(rows, row, models) for row in rows}
    left = [row for row in rows if row.is_covered and 2 * widths[id(row)] <= math.log(WIDEST)]
    unsaid, found = sorted({kind for row in rows for kind in kinds(row)}), {}
    while unsaid:
        shares = {kind: _borne([row for row in left if kind in kinds(row)], widths) for kind in unsaid}
        least = min(unsaid, key=lambda kind: shares[kind])
        of = [row for row in rows if least in kinds(row)]
        inside = statistics.mean(abs(row.off) <= widths[id(row)] for row in of)
        is_wider = shares[least] < KEPT and min(shares[least] or 1.0, inside) < KEPT
        found[least] = (shares[least], _own(rows, least) if is_wider else 0.0)
        unsaid.remove(least)
        if shares[least] < KEPT:
            left = [row for row in left if least not in kinds(row)]
    return found


def _own(rows: Sequence[Left], kind: str) -> float:
    """The standard deviation of the rows of a kind: of those that were covered, if there are any."""
    of = [row for row in rows if kind in kinds(row)]
    return held_out_spread([row for row in of if row.is_covered] or of)


def kinds(row: Left) -> Sequence[str]:
    """The kinds of measurements that a held-out one is of."""
    return case_of(row.point).kinds


def _borne(rows: Sequence[Left], widths: Mapping[int, float]) -> float:
    is_enough = len(rows) >= _BEARING_ROWS and len({row.point.card.gpu_id for row in rows}) >= _BEARING_CARDS
    return statistics.mean(abs(row.off) <= widths[id(row)] for row in rows) if is_enough else 0.0


def of_kinds(rows: Sequence[Left], name: str) -> dict[str, float]:
    """The spread of each kind of model that has enough rows for a range of its own."""
    kinds = {kind: [row for row in rows if row.point.work.kind == kind] for kind in {r.point.work.kind for r in rows}}
    return {f"{name}_{kind}": held_out_spread(of) for kind, of in sorted(kinds.items()) if len(of) >= _ENOUGH}


def serving(found: Sequence[Point], source: str) -> Calibration:
    """All servers in one, with the spreads of what was left out."""
    spread, ranges = spreads(found, SERVERS, "serve")
    one = replace(fit(found, SERVERS, source, "serve"), spread=spread, kept={"served": ranges})
    return _described(one, of_kind(found, SERVERS, "serve"))


def _described(one: Calibration, ours: Sequence[Point]) -> Calibration:
    return replace(one, measurements=len(ours), cards=len({p.card.gpu_id for p in ours}),
                   shapes=tuple(sorted({p.work.shape for p in ours})))  # fmt: skip


def beyond(rows: Sequence[Left], known: float, *, by_card: bool = False) -> float:
    """The standard deviation that these held-out rows add to one that is `known`. Rows of different models count one by one.
    Another model adds at least as much as another run.
    """
    held_out = held_out_spread(rows, by_card=by_card) if rows else 0.2
    return math.sqrt(max(_FLOOR**2, held_out**2 - known**2))


def cache_spread(found: Sequence[Point], calibration: Calibration) -> float:
    """How far the time that a longer cache takes is off: ln(measured / expected) of what a token takes longer at the most
    tokens held than at the fewest, on cards that were measured at both.
    """
    by_setup: dict[tuple[str, int, str], list[Point]] = {}
    for point in of_kind(found, calibration.engine, "decode"):
        by_setup.setdefault((point.card.gpu_id, point.count, point.work.shape), []).append(point)
    rows = []
    for points_of_setup in by_setup.values():
        few, many = (choose(points_of_setup, key=lambda p: p.held) for choose in (min, max))
        longer = 1 / many.rate - 1 / few.rate
        if many.held >= 2000 and many.held >= 4 * few.held and longer > 0:
            expected = 1 / predicted(calibration, many) - 1 / predicted(calibration, few)
            rows.append(Left(many, math.log(longer / expected), True))
    return held_out_spread(rows)


def held_out_spread(rows: Sequence[Left], *, by_card: bool = True) -> float:
    """The standard deviation of a normal distribution whose 80% range is the conformal one of these held-out residuals.

    The range of a next card is the smallest that holds 80% of the (n + 1) that there then are, every card weighing the same:
    rows of one card err together. It holds 80% of the rows too. Source: Vovk,
    Gammerman & Shafer 2005, "Algorithmic Learning in a Random World";
    Dunn, Wasserman & Ramdas 2022, "Distribution-Free Prediction Sets for Two-Layer Hierarchical Models".
    """
    of_card: dict[str, list[float]] = {}
    for row in rows:
        of_card.setdefault(row.point.card.gpu_id, []).append(abs(row.off))
    one_by_one = [[abs(row.off)] for row in rows]
    # Of servers few cards were measured, each with many rows.
    is_enough = by_card and len(of_card) >= _FEWEST_CARDS and rows[0].point.what != "serve"
    return max(_FLOOR, *(_holding(groups) for groups in (one_by_one, *([list(of_card.values())] * is_enough))))


def _holding(groups: Sequence[Sequence[float]]) -> float:
    """The standard deviation whose range holds the next of these groups, each of them weighing the same."""
    weighted = sorted((residual, 1 / len(group)) for group in groups for residual in group)
    wanted, reached = min(len(groups), _HELD * (len(groups) + 1)), 0.0
    for residual, weight in weighted:
        reached += weight
        if reached >= wanted - 1e-9:
            return residual / EIGHTY_PERCENT
    raise ValueError("there are no held-out measurements")


def main(arguments: Sequence[str]) -> None:
    """Fit and write, or with --check say how well cards that were left out are predicted."""
    folders = [Path(word) for word in arguments if not word.startswith("--")]
    found = list(points(folders[0] if folders else FOLDER, Resolver.load()))
    if "--check" in arguments:
        print("\n".join(coverage(found)))
        return
    single = whole(found, "llama.cpp", "XiongjieDai/GPU-Benchmarks-on-LLM-Inference, LLaMA 3 under llama.cpp in 2024, 1 to "
                   "8 cards that share the layers, and single measurements to 2026, each with its source")  # fmt: skip
    single = replace(single, spread={**single.spread, "decode_cache": cache_spread(found, single)})
    ollama = whole(found, "ollama", "geerlingguy/ollama-benchmark and ai-benchmarks, Ollama in 2024 and 2025, one card")
    # It runs llama.cpp's library, and nobody measured it while much is held.
    ollama = replace(ollama, values={**ollama.values, **{n: single.values[n] for n in ("cache", "cache_clock")}},
                     spread={**ollama.spread, "decode_cache": single.spread["decode_cache"]})  # fmt: skip
    servers = serving(found, "InferenceMAX of November 2025 and measurements of vLLM, SGLang and TensorRT-LLM to 2026, each "
                      "with its source")  # fmt: skip
    FILE.write_text("\n".join(map(_toml, (single, ollama, servers))), encoding="utf-8")


def coverage(found: Sequence[Point]) -> Iterator[str]:
    """A Markdown table: how many measurements of cards that were left out lie in the range that promises 8 of 10.

    Neither the speed nor the range of a card knows anything of that card.
    """
    yield "| what | measurements | cards | median of measured ÷ expected | in their range | high ÷ low |"
    yield "|---|---|---|---|---|---|"
    for what, engine in (("decode", "llama.cpp"), ("prefill", "llama.cpp"), ("decode", "ollama"), ("serve", SERVERS)):
        rows = left_out(found, engine, what, "card")
        models = calibrations()[engine].spread[f"{_EFFECTS[what]}_models"]
        ranges = kept(rows, models)
        doubted = {kind for kind, (share, _) in ranges.items() if share < KEPT}
        wider = {kind for kind, (_, off) in ranges.items() if off}
        widths = {
            id(row.point): 2 * EIGHTY_PERCENT * spread_without(rows, row, models, wider.intersection(kinds(row)))
            for row in rows
        }
        for name, chosen in _slices(engine, rows, widths, doubted):
            share = statistics.mean(2 * abs(row.off) <= widths[id(row.point)] for row in chosen)
            median = math.exp(statistics.median(row.off for row in chosen))
            wide = math.exp(statistics.median(widths[id(row.point)] for row in chosen))
            cards = len({row.point.card.gpu_id for row in chosen})
            yield f"| {name} | {len(chosen)} | {cards} | {median:.2f} | {share:.0%} | {wide:.1f} |"
    made = list(of_pieces())
    ratio, share = statistics.median(r for _, r, _ in made), statistics.mean(is_inside for _, _, is_inside in made)
    yield f"| pictures and clips | {len(made)} | {len({gpu_id for gpu_id, _, _ in made})} | {ratio:.2f} | {share:.0%} | |"


def of_pieces() -> Iterator[tuple[str, float, bool]]:
    """Each measured pace of pictures and clips without its card: the card, measured ÷ expected, and if in the range."""
    for row in pieces.measured():
        gpu, model = by_id()[row.gpu_id], diffusion.diffusion_models()[row.model_id]
        rate = pieces.pace(gpu, model, without=row.gpu_id)
        assert rate is not None, "its matrix rate is known"
        made = row.share * (matrix_tflops(gpu, 16) or 0) / (model.steps * model.passes * model.pass_tflop)
        yield row.gpu_id, made / (rate.expected or 1), (rate.low or 0) <= made <= (rate.high or 0)


def spread_without(rows: Sequence[Left], left: Left, models: float, wider: Collection[str] = ()) -> float:
    """The spread of the other cards that one range is made of: those that the rest covered as well as this one. Writing is
    of one kind of memory. A model that was not measured on any of them adds that of `models`. Of what ranges did not hold
    for (`wider`), the range is no narrower than all its rows ask for.
    """
    others = [row for row in rows if row.point.card.gpu_id != left.point.card.gpu_id]
    alike = [row for row in others if row.is_covered == left.is_covered] or others
    if left.is_covered and left.point.what == "decode":
        is_hbm = left.point.card.memory == "hbm"
        alike = [row for row in alike if (row.point.card.memory == "hbm") == is_hbm] or alike
    of_kind = [row for row in alike if row.point.work.kind == left.point.work.kind]
    is_enough = left.is_covered and len(of_kind) >= _ENOUGH
    own = [_own(others, kind) for kind in wider if any(kind in kinds(row) for row in others)]
    spread = max(held_out_spread(of_kind if is_enough else alike), *own, 0.0)
    is_new = left.point.work.shape not in {row.point.work.shape for row in others}
    return math.hypot(spread, models * is_new)


def _slices(
    engine: str, rows: Sequence[Left], widths: Mapping[int, float], doubted: Set[str]
) -> Iterator[tuple[str, Sequence[Left]]]:
    """The rows whole, and by what they may differ in; a slice has ten rows of three cards."""
    what = rows[0].point.what
    words = {"decode": "writing", "prefill": "reading", "serve": "serving"}[what]
    yield f"{words}, {'all servers' if what == 'serve' else engine}", rows

    def is_calibrated(row: Left) -> bool:
        is_narrow = widths[id(row.point)] <= math.log(WIDEST)
        return row.is_covered and is_narrow and doubted.isdisjoint(kinds(row))

    keys: list[Callable[[Left], str]] = [
        lambda row: "calibrated" if is_calibrated(row) else "estimated",
        lambda row: f"{row.point.count} card{'s' if row.point.count > 1 else ''}",
        lambda row: _length(row.point.held),
        lambda row: row.point.card.vendor,
        lambda row: row.point.work.kind,
    ]
    if what == "serve":
        keys += [lambda row: row.point.engine, lambda row: f"{'to 8' if row.point.users <= 8 else 'more'} users"]
    for key in keys:
        for name in sorted({key(row) for row in rows}):
            chosen = [row for row in rows if key(row) == name]
            if len(chosen) >= 10 and len({row.point.card.gpu_id for row in chosen}) >= 3:
                yield f"— {name}", chosen


def _length(held: int) -> str:
    most = next((most for most in (1024, 8192) if held <= most), None)
    return f"up to {most:,} tokens held" if most else "more tokens held"


def _toml(one: Calibration) -> str:
    lines = [
        f'["{one.engine}"]', f"source = {_text(one.source)}", f"measurements = {one.measurements}", f"cards = {one.cards}",
        f"shapes = [{', '.join(map(_text, one.shapes))}]",
        "", f'["{one.engine}".values]', *(f"{name} = {value:.4f}" for name, value in one.values.items()),
        "", f'["{one.engine}".spread]', *(f"{_text(name)} = {value:.4f}" for name, value in one.spread.items()), "",
    ]  # fmt: skip
    for name, entries in one.hull.items():
        lines += [
            f'["{one.engine}".hull.{name}]',
            *(f"{_text(kind)} = {list(most)}" for kind, most in sorted(entries.items())),
            "",
        ]
    for name, ranges in one.kept.items():
        lines += [
            f'["{one.engine}".kept.{name}]',
            *(f"{_text(kind)} = [{share:.3f}, {off:.4f}]" for kind, (share, off) in ranges.items()),
            "",
        ]
    for name, effects in one.groups.items():
        lines += [
            f'["{one.engine}".groups.{name}]',
            *(f"{_text(member)} = {v:.4f}" for member, v in effects.items()),
            "",
        ]
    return "\n".join(lines)


def _text(words: str) -> str:
    return '"' + words.replace('"', '\\"') + '"'


if __name__ == "__main__":
    main(sys.argv[1:])
