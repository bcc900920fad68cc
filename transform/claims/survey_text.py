"""Recomputes the figures in the survey's text (not its tables) from the sizes of the models that it names."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gpuledger.transform.sizing import catalogue, diffusion
from gpuledger.transform.sizing.tensors import count_parameters


def recompute(inputs: Mapping[str, Any]) -> dict[str, Fraction | None]:
    """The recomputed value of every claim, by claim id."""
    unet = next(
        part.parameters for part in diffusion.diffusion_models()[inputs["unet"]].parts if part.role == "denoiser"
    )
    clip, llama = (count_parameters(catalogue.architecture(inputs[name])).total for name in ("clip", "llama"))
    return {
        "text/about-ten-times": Fraction(inputs["slow"]) / Fraction(inputs["fast"]),
        "text/4787-seconds": None,
        "text/745-seconds": None,
        "text/unet-parameters": Fraction(unet, 10**6),
        "text/clip-parameters": Fraction(clip, 10**6),
        "text/largest-llama": Fraction(llama, 10**9),
    }
