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
from gpuledger.transform.speed.calibration import FILE, Calibration
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
#: No range is narrower than this: a dozen cards of one publisher do not show all that differs between two computers.
_FLOOR = 0.035
#: The same for an architecture that nobody measured.
_UNKNOWN = 0.2


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
            engine, values, effects, {}, len(ours), len({p.card.gpu_id for p in ours}), has_mixtures, source
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
    """ln(measured / predicted) of every point from a fit without its card (or its architecture)."""
    ours = [p for p in found if p.engine == engine and p.what == what and predicted_possible(p)]
    key: Callable[[Point], str] = (lambda p: p.card.gpu_id) if level == "card" else (lambda p: p.card.architecture)
    answers = []
    for name in sorted({key(p) for p in ours}):
        one = fit([p for p in ours if key(p) != name], engine, "", what)
        answers += [(p, math.log(p.rate / predicted(one, p))) for p in ours if key(p) == name]
    return answers


def predicted_possible(point: Point) -> bool:
    """Whether the card has the figures that the model of its speed asks for."""
    return point.what == "decode" or bool(point.card.tflops)


def whole(found: Sequence[Point], engine: str, source: str) -> Calibration:
    """Decode and prefill of an engine in one, with the spreads of what was left out."""
    found = [p for p in found if predicted_possible(p)]
    decode = fit(found, engine, source)
    spread: dict[str, float] = {}
    kept = [math.log(p.rate / predicted(decode, p)) for p in found if p.engine == engine and p.what == "decode"]
    by_card = left_out(found, engine, "decode", "card")
    for memory, is_there in (("hbm", lambda p: p.card.memory == "hbm"), ("other", lambda p: p.card.memory != "hbm")):
        rows = [r for p, r in by_card if is_there(p)]
        spread[f"decode_architecture_{memory}"] = _deviation(rows) if len(rows) > 3 else 0.3
    spread["decode_card_hbm"] = min(spread["decode_architecture_hbm"], 2 * _deviation(kept))
    spread["decode_card_other"] = min(spread["decode_architecture_other"], 1.5 * _deviation(kept))
    by_architecture = [r for _, r in left_out(found, engine, "decode", "architecture")]
    spread["decode_none"] = max(_UNKNOWN, 1.5 * _deviation(by_architecture))
    values, groups = dict(decode.values), dict(decode.groups)
    if any(p.engine == engine and p.what == "prefill" for p in found):
        prefill = fit(found, engine, source, "prefill")
        values |= prefill.values
        groups |= prefill.groups
        rows = [math.log(p.rate / predicted(prefill, p)) for p in found if p.engine == engine and p.what == "prefill"]
        spread["prefill_architecture"] = _deviation([r for _, r in left_out(found, engine, "prefill", "card")])
        spread["prefill_card"] = min(spread["prefill_architecture"], 1.3 * _deviation(rows))
        unknown = [r for _, r in left_out(found, engine, "prefill", "architecture")]
        spread["prefill_none"] = max(2 * spread["prefill_architecture"], 1.5 * _deviation(unknown))
    return replace(
        decode, values=values, groups=groups, spread=spread, measurements=sum(p.engine == engine for p in found)
    )


def _deviation(rows: Sequence[float]) -> float:
    """A standard deviation that one slip does not widen: half the distance between the 10th and the 90th percentile, as a
    normal distribution has it.
    """
    tenths = statistics.quantiles(rows, n=10, method="inclusive")
    return max(_FLOOR, (tenths[-1] - tenths[0]) / 2 / 1.2816)


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
        f"has_mixtures = {str(one.has_mixtures).lower()}",
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
