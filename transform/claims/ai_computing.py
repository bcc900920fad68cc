"""Recomputes the figures of the third source document: peak operations, Amdahl, matrix ladder, A100 and TOP500."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu


def recompute(inputs: Mapping[str, Any]) -> dict[str, Fraction | None]:
    """The recomputed value of every claim, by claim id."""
    a100 = inputs["a100"]
    card = _gpu(a100["gpu_id"])
    seconds = {step: Fraction(value) for step, value in inputs["ladder_seconds"].items()}
    return {
        "peak-flops": Fraction(inputs["clock_hz"] * inputs["instructions_per_cycle"] * inputs["fpus"], 10**9),
        "amdahl-60-percent": _amdahl(**inputs["amdahl"]["first"]),
        "amdahl-95-percent": _amdahl(**inputs["amdahl"]["second"]),
        **{f"ladder-{step}": seconds["python"] / time for step, time in seconds.items() if step != "python"},
        "a100-multiprocessors": Fraction(_required(card.shading_units), a100["cuda_cores_each"]),
        "a100-cuda-cores": Fraction(a100["multiprocessors"] * a100["cuda_cores_each"]),
        "a100-tensor-cores": Fraction(a100["multiprocessors"] * a100["tensor_cores_each"]),
        "a100-memory": Fraction(_required(card.memory_gb)),
        "pixar-frame": Fraction(inputs["pixar_hours"] * 3600),
        # A cluster has two multiprocessors. Source: NVIDIA, A100 white paper, 2020.
        "a100-tpcs": Fraction(inputs["a100"]["graphics_clusters"] * inputs["a100"]["clusters_each"]),
        "gtx-580-memory": Fraction(_required(_gpu(inputs["gtx_580"]).memory_gb)),
    }


def input_ranges(inputs: Mapping[str, Any]) -> dict[str, tuple[Fraction, Fraction]]:
    """The lowest and highest value of the claims with rounded inputs. The ladder's times are exact to half of 0.01 s."""
    half = Fraction(5, 1000)
    seconds = {step: Fraction(value) for step, value in inputs["ladder_seconds"].items()}
    python = seconds["python"]
    return {
        f"ladder-{step}": ((python - half) / (time + half), (python + half) / (time - half))
        for step, time in seconds.items()
        if step != "python"
    }


def _amdahl(p: Fraction, n: int) -> Fraction:
    """The exact speedup, for a comparison to the last printed digit. `links.amdahl_speedup` is the same in floats."""
    share = Fraction(p)
    return 1 / ((1 - share) + share / n)


def _gpu(gpu_id: str) -> Gpu:
    return catalogue.by_id()[gpu_id]


def _required(value: float | None) -> int | Fraction:
    if value is None:
        raise ValueError("the specification catalogue does not know a figure that a claim is checked against")
    return Fraction(value)
