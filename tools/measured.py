"""Measured tokens a second from published Markdown tables, each beside the bound of its card.

The tables stand under headings that name the model (`### Llama 3.2:3b`); a row names a system, with the card in brackets,
what it ran on, the rate and the power. Every row is measured against a bound or excluded with a reason: none is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import Verdict, verdict_on
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.weights import Weights, weights

#: What Ollama serves under a tag that names no quantisation; gpt-oss is published in MXFP4 alone.
DEFAULT_QUANTISATION = "Q4_K_M"
QUANTISATION = {"gpt_oss": "MXFP4_MOE"}

_RATE = re.compile(r"([\d.]+)\s*Tokens/s")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_FOOTNOTE = re.compile(r"<sup>.*?</sup>")
_BRACKET = re.compile(r"\(([^()]*)\)([^()]*)$")


@dataclass(frozen=True, slots=True)
class Row:
    """One row as printed, without links and footnotes. `model` is the heading above its table."""

    source: str
    model: str
    system: str
    processor: str
    tokens_per_s: float


@dataclass(frozen=True, slots=True)
class Residual:
    """A row measured against its bound: the card taken, the bytes that a token reads, and what the ratio says."""

    row: Row
    gpu: Gpu
    model_id: str
    precision: str
    share: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Excluded:
    """A row that no bound can be stated for, and why."""

    row: Row
    reason: str


def read_rows(source: str, text: str) -> Iterator[Row]:
    """The rows of every table that has a rate in tokens a second."""
    model = ""
    for line in text.splitlines():
        if line.startswith("#"):
            model = line.lstrip("#").strip()
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        rate = _RATE.fullmatch(cells[2]) if len(cells) >= 3 else None
        if rate is None:
            continue
        system = _FOOTNOTE.sub("", _LINK.sub(r"\1", cells[0])).strip()
        yield Row(source, model, system, cells[1], float(rate[1]))


def measure(folder: Path, resolver: Resolver, assumptions: Assumptions) -> tuple[list[Residual], list[Excluded]]:
    """All rows of the Markdown files in `folder`; a row that stands in two files is taken once."""
    rows: dict[tuple[str, str, float], Row] = {}
    for path in sorted(folder.glob("*.md")):
        for row in read_rows(path.name, path.read_text(encoding="utf-8")):
            rows.setdefault((row.model, row.system, row.tokens_per_s), row)
    answers = [_measure(row, resolver, assumptions) for row in rows.values()]
    residuals = [answer for answer in answers if isinstance(answer, Residual)]
    return residuals, [answer for answer in answers if isinstance(answer, Excluded)]


def _measure(row: Row, resolver: Resolver, assumptions: Assumptions) -> Residual | Excluded:
    model_id = _model_id(row.model)
    if model_id is None:
        return Excluded(row, "model not in the catalogue")
    if row.processor == "CPU":
        return Excluded(row, "ran on the CPU")
    if row.processor != "GPU":
        return Excluded(row, "part of the model ran from the computer's memory")
    card = _BRACKET.search(row.system)
    if card is None:
        return Excluded(row, "no card named")
    title = f"{card[1]} {card[2]}".strip()
    resolution = resolver.resolve(title)
    if resolution.gpu_count > 1 or re.search(r"\b\d+\s*[x×]", title):
        return Excluded(row, "several cards")
    if not resolution.candidates:
        return Excluded(row, "no discrete card of the catalogue: memory shared with the processor")
    precision = QUANTISATION.get(str(catalogue.get(model_id).config["model_type"]), DEFAULT_QUANTISATION)
    size = weights(catalogue.architecture(model_id), precision)
    gpu = _card_that_holds(size, [by_id()[gpu_id] for gpu_id in resolution.candidates])
    if gpu is None or gpu.memory_bandwidth_gb_s is None:
        return Excluded(row, "the model does not fit the card")
    bound = gpu.memory_bandwidth_gb_s * 1e9 / size.read_bytes(1)
    verdict = verdict_on(row.tokens_per_s, bound, assumptions)
    return Residual(row, gpu, model_id, precision, row.tokens_per_s / bound, verdict)


def _model_id(heading: str) -> str | None:
    """The model whose Ollama tag reads like the heading: `DeepSeek R1 14b` is `deepseek-r1:14b`."""
    wanted = _letters(heading)
    for model in catalogue.models().values():
        if wanted in {_letters(tag) for tag in model.ollama}:
            return model.model_id
    return None


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", text.lower())


def _card_that_holds(size: Weights, candidates: list[Gpu]) -> Gpu | None:
    """Of the cards that a name may mean, the fastest that holds the weights: the bound then holds whichever it was."""
    fitting = [gpu for gpu in candidates if gpu.memory_gb and gpu.memory_gb * 2**30 >= size.total]
    return max(fitting, key=lambda gpu: gpu.memory_bandwidth_gb_s or 0, default=None)
