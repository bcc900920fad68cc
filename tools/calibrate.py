"""Fits `transform/speed/calibration.toml` to published measurements: `python -m tools.calibrate [FOLDER]`.

FOLDER holds `llama3_llama_cpp_*.csv` and Markdown tables of tokens a second (default: ../shared/data/benchmarks). Only the
fitted figures and the spread of held-out residuals are kept. With `--check` nothing is written: every card in turn is left
out, predicted from the others, and the ratios are printed.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT, FILE, Calibration
from gpuledger.transform.speed.features import CardTraits, Work, traits
from gpuledger.transform.speed.work import work_of
from tools.measured import measure
from tools.measured_table import TOKENS, read_table

FOLDER = Path(__file__).parents[1] / "../shared/data/benchmarks"

#: Hosts whose slot, processor or driver is what limits: a card there says nothing of the card in a computer.
_SMALL_HOSTS = ("Pi ", "Radxa", "HiFive", "Minisforum", "System76 Thelio Astra")

#: Start and standard deviation of what is believed before any measurement. Times in microseconds (a layer: at 1 GHz).
_PRIORS = {
    "memory": (0.08, 0.15), "memory_hbm": (0.35, 0.4), "memory_gddr": (0.0, 1e-3), "memory_shared": (0.0, 0.15),
    "memory_ecc": (0.1, 0.1), "layer": (math.log(180), 0.5), "layer_mixture": (0.3, 0.5), "handover": (math.log(300), 0.7),
    "prefill_f16": (math.log(60), 0.7), "prefill_packed": (math.log(50), 0.7), "prefill_rate": (0.6, 0.3),
    "prefill_bandwidth": (0.3, 0.3), "prefill_hidden_f16": (0.3, 0.3), "prefill_hidden_packed": (0.1, 0.3),
    "prefill_cards": (-0.1, 0.1), "prefill_watts": (0.3, 0.3),
}  # fmt: skip
#: How far effects of a group are believed to lie from none.
_GROUPS = {
    "decode_vendor": 0.25, "decode_architecture": 0.08, "decode_chip": 0.15, "decode_card": 0.06,
    "prefill_vendor": 0.3, "prefill_architecture": 0.15, "prefill_card": 0.12,
}  # fmt: skip
#: The same of one row: what is left when the card is known.
_ROW = {"decode": 0.06, "prefill": 0.12}
#: No range is narrower than this: two runs of one benchmark on one card differ by as much.
_FLOOR = 0.03
#: The same for an architecture that nobody measured.
_UNKNOWN = 0.2
#: Of so many held-out measurements a range is to hold the new one.
_HELD = 0.8
#: Fewer cards than this say nothing of a next card by themselves: then their rows count one by one.
_FEWEST_CARDS = 4


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: `rate` in tokens a second."""

    what: str
    engine: str
    card: CardTraits
    count: int
    work: Work
    rate: float
    label: str


def points(folder: Path, resolver: Resolver) -> Iterator[Point]:
    """Every measurement that can be used, of one kind of card in an ordinary computer."""
    for path in sorted(folder.glob("llama3_llama_cpp_*.csv")):
        for row in read_table(path, resolver):
            card = traits(row.gpu)
            if card is not None and row.tokens_per_s is not None:
                work = work_of(row.model_id, row.precision, TOKENS // 2, TOKENS)
                label = f"{row.count} × {row.printed} {row.model_id} {row.precision}"
                yield Point(row.measure, "llama.cpp", card, row.count, work, row.tokens_per_s, label)
    measured = measure(folder, resolver, Assumptions())[0]
    ordinary = {item.gpu.vendor for item in measured if not item.row.system.startswith(_SMALL_HOSTS)}
    for item in measured:
        card = traits(item.gpu)
        # A vendor that was measured on small hosts alone: they are all that is known of it.
        if card is not None and (card.vendor not in ordinary or not item.row.system.startswith(_SMALL_HOSTS)):
            work = work_of(item.model_id, item.precision, 256, 256)
            label = f"{item.row.system} {item.model_id} {item.precision}"
            yield Point("decode", "ollama", card, 1, work, item.row.tokens_per_s, label)


def fit(found: Sequence[Point], engine: str, source: str, what: str = "decode") -> Calibration:
    """The calibration of `engine` from its points; effects shrink to none where a group has few."""
    ours = [p for p in found if p.engine == engine and p.what == what]
    names = [n for n in _PRIORS if n.startswith("prefill") == (what == "prefill")]
    levels: dict[str, Callable[[CardTraits], str]] = {
        "vendor": lambda c: c.vendor, "architecture": lambda c: c.architecture,
        "chip": lambda c: c.chip, "card": lambda c: c.gpu_id,
    }  # fmt: skip
    groups = {
        name: sorted({levels[name.split("_")[1]](p.card) for p in ours} - ({"NVIDIA"} if "vendor" in name else set()))
        for name in _GROUPS
        if name.startswith(what)
    }
    starts = [_PRIORS[n][0] for n in names]
    sizes = [_PRIORS[n][1] for n in names]
    for name, members in groups.items():
        starts += [0.0] * len(members)
        sizes += [_GROUPS[name]] * len(members)
    start, size = np.array(starts), np.array(sizes)

    def unpack(x: np.ndarray) -> Calibration:
        values, rest = dict(zip(names, map(float, x), strict=False)), [float(v) for v in x[len(names) :]]
        effects: dict[str, dict[str, float]] = {}
        for name, members in groups.items():
            effects[name], rest = dict(zip(members, rest, strict=False)), rest[len(members) :]
        has_mixtures = any(p.work.is_mixture for p in ours)
        return Calibration(
            engine, values, effects, {}, len(ours), len({p.card.gpu_id for p in ours}), has_mixtures, (), source
        )

    def residuals(x: np.ndarray) -> np.ndarray:
        one = unpack(x)
        rows = np.array([math.log(p.rate / predicted(one, p)) / _ROW[what] for p in ours])
        # A row that is far off (soft L1) pulls like a near one: a slip in a table must not bend the rest.
        rows = np.sign(rows) * np.sqrt(2 * (np.sqrt(1 + rows**2) - 1))
        return np.concatenate([rows, (x - start) / size])

    return unpack(least_squares(residuals, start).x)


def predicted(calibration: Calibration, point: Point) -> float:
    """Tokens a second that the calibration expects."""
    if point.what == "decode":
        return 1 / calibration.decode_times(point.card, point.work).seconds(point.work, point.count)
    rate = calibration.prefill_tokens_per_s(point.card, point.work, point.count, 512)
    return rate if rate else math.nan


def left_out(found: Sequence[Point], engine: str, what: str, level: str) -> list[tuple[Point, float]]:
    """ln(measured / predicted) of every point from a fit without its `card`, its `architecture`, or its `setup`: the same
    card with as many of it or, where it was measured with one count alone, under the same model.

    Of setups only cards with several are answered for: the others are cards left out.
    """
    ours = [p for p in found if p.engine == engine and p.what == what and predicted_possible(p)]
    counts = {p.card.gpu_id: len({q.count for q in ours if q.card.gpu_id == p.card.gpu_id}) for p in ours}
    keys: dict[str, Callable[[Point], str]] = {
        "card": lambda p: p.card.gpu_id,
        "architecture": lambda p: p.card.architecture,
        "setup": lambda p: f"{p.card.gpu_id} {p.count if counts[p.card.gpu_id] > 1 else p.work.shape}",
    }
    key = keys[level]
    answers = []
    for name in sorted({key(p) for p in ours}):
        rest = [p for p in ours if key(p) != name]
        held = [p for p in ours if key(p) == name]
        if level == "setup" and held[0].card.gpu_id not in {p.card.gpu_id for p in rest}:
            continue
        one = fit(rest, engine, "", what)
        answers += [(p, math.log(p.rate / predicted(one, p))) for p in held]
    return answers


def predicted_possible(point: Point) -> bool:
    """Whether the card has the figures that the model of its speed asks for."""
    return point.what == "decode" or bool(point.card.tflops)


def whole(found: Sequence[Point], engine: str, source: str) -> Calibration:
    """Decode and prefill of an engine in one, with the spreads of what was left out."""
    found = [p for p in found if predicted_possible(p)]
    decode = fit(found, engine, source)
    spread: dict[str, float] = {}
    values, groups = dict(decode.values), dict(decode.groups)
    by_card, by_setup = (left_out(found, engine, "decode", level) for level in ("card", "setup"))
    for memory in ("hbm", "other"):
        cards, setups = (
            [(p, r) for p, r in rows if (p.card.memory == "hbm") == (memory == "hbm")] for rows in (by_card, by_setup)
        )
        spread[f"decode_architecture_{memory}"] = held_out_spread(cards) if cards else 0.3
        spread[f"decode_card_{memory}"] = spread[f"decode_architecture_{memory}"]
        if setups:
            spread[f"decode_card_{memory}"] = min(spread[f"decode_architecture_{memory}"], held_out_spread(setups))
    spread["decode_none"] = max(_UNKNOWN, held_out_spread(left_out(found, engine, "decode", "architecture")))
    if any(p.engine == engine and p.what == "prefill" for p in found):
        prefill = fit(found, engine, source, "prefill")
        values |= prefill.values
        groups |= prefill.groups
        spread["prefill_architecture"] = held_out_spread(left_out(found, engine, "prefill", "card"))
        by_setup = left_out(found, engine, "prefill", "setup")
        spread["prefill_card"] = min(spread["prefill_architecture"], held_out_spread(by_setup))
        unknown = held_out_spread(left_out(found, engine, "prefill", "architecture"))
        spread["prefill_none"] = max(2 * spread["prefill_architecture"], unknown)
    ours = [p for p in found if p.engine == engine]
    return replace(
        decode,
        values=values,
        groups=groups,
        spread=spread,
        measurements=len(ours),
        shapes=tuple(sorted({p.work.shape for p in ours})),
    )


def other_models_spread(found: Sequence[Point], calibration: Calibration) -> float:
    """How far other publishers' measurements of other models lie from what `calibration` expects of cards that it knows the
    maker of: by newer versions of the program, other processors and other shapes. Those of shared memory are left out.
    """
    rows = [
        (p, math.log(p.rate / predicted(calibration, p)))
        for p in found
        if p.engine != calibration.engine and p.what == "decode" and p.card.memory != "shared"
        and p.card.vendor == "NVIDIA"
    ]  # fmt: skip
    return held_out_spread(rows)


def held_out_spread(rows: Sequence[tuple[Point, float]]) -> float:
    """The standard deviation of a normal distribution whose 80% range is the conformal one of these held-out residuals.

    The range of a next card is the smallest that holds 80% of the (n + 1) that there then are, every card weighing the same:
    rows of one card err together. Source: Vovk, Gammerman & Shafer 2005, "Algorithmic Learning in a Random World";
    Dunn, Wasserman & Ramdas 2022, "Distribution-Free Prediction Sets for Two-Layer Hierarchical Models".
    """
    by_card: dict[str, list[float]] = {}
    for point, residual in rows:
        by_card.setdefault(point.card.gpu_id, []).append(abs(residual))
    groups = list(by_card.values()) if len(by_card) >= _FEWEST_CARDS else [[abs(r)] for _, r in rows]
    weighted = sorted((residual, 1 / len(group)) for group in groups for residual in group)
    wanted, reached = min(len(groups), _HELD * (len(groups) + 1)), 0.0
    for residual, weight in weighted:
        reached += weight
        if reached >= wanted - 1e-9:
            return max(_FLOOR, residual / EIGHTY_PERCENT)
    raise ValueError("there are no held-out measurements")


def main(arguments: Sequence[str]) -> None:
    """Fit and write, or with --check say how well cards that were left out are predicted."""
    folders = [Path(word) for word in arguments if not word.startswith("--")]
    found = list(points(folders[0] if folders else FOLDER, Resolver.load()))
    if "--check" in arguments:
        for engine, what in (("llama.cpp", "decode"), ("llama.cpp", "prefill"), ("ollama", "decode")):
            check(found, engine, what)
        return
    sources = {
        "llama.cpp": "XiongjieDai/GPU-Benchmarks-on-LLM-Inference, LLaMA 3 under llama.cpp in 2024, 1 to 6 cards "
        "that share the layers",
        "ollama": "geerlingguy/ollama-benchmark and ai-benchmarks, Ollama in 2024 and 2025, one card",
    }
    fitted = [whole(found, engine, source) for engine, source in sources.items()]
    # What one engine was never measured on, another says something of: how far its cards of that vendor lie behind.
    elsewhere = fitted[1].groups["decode_vendor"]
    fitted[0] = replace(fitted[0], groups={**fitted[0].groups, "decode_vendor_elsewhere": elsewhere})
    fitted[0] = replace(fitted[0], spread={**fitted[0].spread, "other_models": other_models_spread(found, fitted[0])})
    FILE.write_text("\n".join(map(_toml, fitted)), encoding="utf-8")


def check(found: Sequence[Point], engine: str, what: str) -> None:
    """Print every held-out ratio and their summary by number of cards."""
    rows = left_out(found, engine, what, "card")
    for point, residual in rows:
        print(f"{engine:10} {what:8} {math.exp(residual):6.3f}  {point.label}")
    for count in sorted({p.count for p, _ in rows}):
        ratios = [math.exp(r) for p, r in rows if p.count == count]
        print(f"{engine} {what}, {count} cards: median {statistics.median(ratios):.3f} of {len(ratios)}")


def _toml(one: Calibration) -> str:
    lines = [
        f'["{one.engine}"]', f"source = {_text(one.source)}", f"measurements = {one.measurements}", f"cards = {one.cards}",
        f"has_mixtures = {str(one.has_mixtures).lower()}", f"shapes = [{', '.join(map(_text, one.shapes))}]",
        "", f'["{one.engine}".values]', *(f"{name} = {value:.4f}" for name, value in one.values.items()),
        "", f'["{one.engine}".spread]', *(f"{name} = {value:.4f}" for name, value in one.spread.items()), "",
    ]  # fmt: skip
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
