"""How fast pictures and clips are made, and speech is written down, by the part of the matrix rate that was measured."""

from __future__ import annotations

import functools
import math
import statistics
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.message import Message
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import diffusion
from gpuledger.transform.sizing.diffusion import DiffusionModel
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.speed.cards import matrix_tflops
from gpuledger.transform.speed.rules import Rate

FILE = Path(__file__).with_name("pieces.toml")

#: What is said of a model of speech.
HEARD = (
    "Writes speech down about {times:.3g} times as fast as it is spoken ({low:.2g} to {high:.2g}), one piece after "
    "another; estimated from faster-whisper on three cards."
)
#: Architectures that do not multiply bf16. Programs then compute at 32 bits, or make black pictures.
WITHOUT_BF16 = frozenset(
    {"Maxwell", "Maxwell 2.0", "Pascal", "Volta", "Turing", "Apple M1"}
    | {"GCN 1.0", "GCN 2.0", "GCN 3.0", "GCN 4.0", "GCN 5.0", "GCN 5.1", "RDNA 1.0", "RDNA 2.0"}
)
#: The standard deviation of the logarithm for a card that was left out, as the rows of pieces.toml show it. What is added
#: for a maker of whom two cards were measured, and for one of whom none was, is our own choice.
_SPREAD, _LESS_KNOWN, _UNKNOWN_VENDOR = 0.25, {"NVIDIA": 0.0, "AMD": 0.35}, 0.6
#: The standard deviation where the card itself was measured with the model: programs differ by this much. Own choice.
_OTHER_PROGRAM = 0.22
#: How much faster fp8 is on cards that multiply it, and its standard deviation: some programs only keep weights so (1.0
#: times), others multiply at 8 bits (1.2 to 1.5 times in aredden/flux-fp8-api, README). Own choice between them.
_EIGHT_BITS, _SOME_PROGRAMS = 1.15, 0.2
#: The power of the matrix rate with which the part that is reached falls: fast cards wait for power, memory and the start of
#: kernels. A fit to the rows of pieces.toml, of one model each, which lie between these rates (TFLOPS).
_FALL, _RATES = -0.18, (36.0, 989.0)
#: How many cards the model's own measurements must outweigh: few of them say little beside those of other models.
_OTHERS_WEIGH = 0.5
#: Times real time for each TFLOPS of the 16-bit rate, and at most on any card: one piece of speech after another waits for
#: the start of kernels. Both lie near the three cards of pieces.toml; the standard deviation is our own choice.
_SPEECH_A_TFLOPS, _SPEECH_AT_MOST, _SPEECH_SPREAD = 0.25, 20.0, 0.5
#: The model of these measurements, by its number of weights.
_MEASURED_WEIGHTS = 1.54e9


_FP8 = frozenset({"Ada Lovelace", "Hopper", "Blackwell", "Blackwell 2.0"})
#: The part of a card's memory that programs keep free while they work, and GB a second at which weights that do not fit come
#: from the machine's memory, in every pass. Chosen by seven rows of Visionatrix/VixFlowsDocs on cards too small for their
#: model, which all lie in the range that they give.
KEPT_FREE, _STREAMED_GB_S = 0.12, 8.0
#: The most of the weights that may wait: ComfyUI streams block by block, and some are on the card. Own choice.
MOST_WAITING = 0.9


class Measured(NamedTuple):
    """The part of a card's 16-bit matrix rate (TFLOPS) that a model was measured at."""

    model_id: str
    gpu_id: str
    share: float
    tflops: float


@functools.cache
def measured() -> Sequence[Measured]:
    """Every published measurement of pictures and clips."""
    rows: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["step"]
    found = []
    for row in rows:
        model, tflops = diffusion.diffusion_models()[row["model"]], matrix_tflops(by_id()[row["gpu_id"]], 16)
        assert tflops, f"the matrix rate of {row['gpu_id']} is known"
        steps_per_s = row.get("steps_per_s") or row["steps"] / row["seconds"]
        done = steps_per_s * row.get("pictures", 1) * model.passes * (row.get("pass_tflop") or model.pass_tflop or 0)
        found.append(Measured(model.model_id, row["gpu_id"], done / tflops, tflops))
    return found


@functools.cache
def share(model_id: str, without: str = "") -> tuple[float, int]:
    """The part of the matrix rate that a model reaches on a card of 1 TFLOPS, and the number of cards that measured it.

    The card `without` is left out, to see how well others predict it.
    """
    by_model: dict[str, dict[str, list[float]]] = {}
    for row in measured():
        if row.gpu_id != without:
            by_model.setdefault(row.model_id, {}).setdefault(row.gpu_id, []).append(
                math.log(row.share / _fall(row.tflops))
            )
    of_models = {name: [statistics.median(logs) for logs in cards.values()] for name, cards in by_model.items()}
    all_models = statistics.median(statistics.median(logs) for logs in of_models.values())
    own = of_models.get(model_id, [])
    return math.exp((sum(own) + _OTHERS_WEIGH * all_models) / (len(own) + _OTHERS_WEIGH)), len(own)


def pace(gpu: Gpu, model: DiffusionModel, precision: str = "fp16", *, without: str = "") -> Rate | None:
    """Pictures or clips a second of one card by the makers' steps, None if its matrix rate or the model's is not known."""
    tflops = matrix_tflops(gpu, 16)
    if not tflops or model.steps is None or model.pass_tflop is None:
        return None
    reached, cards = share(model.model_id, without)
    reached *= _fall(tflops)
    deviation, is_known = _of_vendor(gpu, _SPREAD), cards > 1 and gpu.vendor == "NVIDIA"
    own = [
        m.share for m in measured() if (m.model_id, m.gpu_id) == (model.model_id, gpu.gpu_id) and gpu.gpu_id != without
    ]
    if own:
        reached, deviation, is_known = statistics.median(own), _OTHER_PROGRAM, True
    if precision == "fp8" and gpu.architecture in _FP8:
        reached, deviation = reached * _EIGHT_BITS, math.hypot(deviation, _SOME_PROGRAMS)
    return _around(tflops * reached / (model.steps * model.passes * model.pass_tflop), deviation, is_known=is_known)


def streamed(rate: Rate, model: DiffusionModel, waiting: float) -> Rate:
    """The rate if so many bytes of the weights wait in the machine's memory and are read from it in every pass."""
    seconds = (model.steps or 0) * model.passes * waiting / (_STREAMED_GB_S * 1e9)
    slower = [
        1 / (1 / per_s + times * seconds) if per_s else per_s
        for per_s, times in ((rate.expected, 1.0), (rate.low, 2.0), (rate.high, 0.5))
    ]
    return rate._replace(expected=slower[0], low=slower[1], high=slower[2], basis="estimated")


def _fall(tflops: float) -> float:
    """How much less of its matrix rate a card reaches than one of 1 TFLOPS would."""
    slowest, fastest = _RATES
    return math.pow(min(max(tflops, slowest), fastest), _FALL)


def times_real_time(gpu: Gpu, shape: Architecture) -> Rate | None:
    """How many seconds of speech a model writes down in a second, one piece after another. None for other models."""
    tflops = matrix_tflops(gpu, 16)
    if not tflops or not shape.is_of_speech:
        return None
    weights = sum(tensor.parameters for tensor in shape.tensors)
    expected = _MEASURED_WEIGHTS / weights / (1 / (_SPEECH_A_TFLOPS * tflops) + 1 / _SPEECH_AT_MOST)
    return _around(expected, _of_vendor(gpu, _SPEECH_SPREAD), is_known=False)


def heard(gpu: Gpu, shape: Architecture) -> tuple[Message, ...]:
    """How fast a model of speech writes it down, in words. Nothing for other models."""
    rate = times_real_time(gpu, shape)
    return () if rate is None else (Message(HEARD, times=rate.expected, low=rate.low, high=rate.high),)


def _of_vendor(gpu: Gpu, spread: float) -> float:
    return math.hypot(spread, _LESS_KNOWN.get(gpu.vendor, _UNKNOWN_VENDOR))


def _around(expected: float, deviation: float, *, is_known: bool) -> Rate:
    return Rate.around(expected, deviation, None, "calibrated" if is_known else "estimated")
