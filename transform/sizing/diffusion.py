"""Image models as the parts that run for one picture, from `models/diffusion.toml`."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.architecture import count_parameters
from gpuledger.transform.sizing.errors import UnknownModel, UnknownPrecision
from gpuledger.transform.sizing.weights import UNIFORM_BITS

Role = Literal["denoiser", "text", "vae"]

_CHANNELS, _PATCH = 16, 2
_TIME_WIDTH, _POOLED_WIDTH, _TEXT_WIDTH = 256, 2048, 4096
_HEAD = 64


@dataclass(frozen=True, slots=True)
class Part:
    """One network of an image model. `source` says where the count comes from."""

    role: Role
    name: str
    parameters: int
    source: str


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """An image model; `steps` and `side` (pixels) are its makers' defaults for one square picture."""

    model_id: str
    repository: str
    steps: int
    side: int
    parts: tuple[Part, ...]

    @property
    def parameters(self) -> int:
        """Weights of all parts."""
        return sum(part.parameters for part in self.parts)


@functools.cache
def diffusion_models() -> Mapping[str, DiffusionModel]:
    """All image models by id."""
    text = (catalogue.MODELS / "diffusion.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)["diffusion"]
    return MappingProxyType(
        {
            entry["id"]: DiffusionModel(
                model_id=entry["id"],
                repository=entry["repository"],
                steps=entry["steps"],
                side=entry["side"],
                parts=tuple(_part(part) for part in entry["part"]),
            )
            for entry in entries
        }
    )


def get(model_id: str) -> DiffusionModel:
    """The image model called `model_id`. Raises UnknownModel, with the known ids."""
    known = diffusion_models()
    if model_id not in known:
        raise UnknownModel(f"no image model is called {model_id!r}; known are {', '.join(known)}")
    return known[model_id]


def weights_bytes(model: DiffusionModel, precision: str, *, offload_text: bool = False) -> int:
    """Bytes of the weights on the card, all parts at one uniform precision (`fp16`, `fp8`, `int4` …).

    With `offload_text` the text encoders have done their work and left, as runtimes do on small cards.
    Raises UnknownPrecision.
    """
    bits = UNIFORM_BITS.get(precision.lower())
    if bits is None:
        raise UnknownPrecision(
            f"precision {precision!r} is not known for image models; known are {', '.join(UNIFORM_BITS)}"
        )
    resident = sum(part.parameters for part in model.parts if not (offload_text and part.role == "text"))
    return resident * bits // 8


def image_memory(model: DiffusionModel, precision: str, pictures: int, assumptions: Assumptions) -> tuple[int, int]:
    """Bytes of the weights that stay on the card, and of temporary memory for `pictures` at the makers' size.

    Both follow assumptions (`text_encoders_on_card`, `image_activation_gb_per_megapixel`): runtimes differ widely.
    Raises UnknownPrecision.
    """
    total = weights_bytes(model, precision)
    text = total - weights_bytes(model, precision, offload_text=True)
    resident = round(total - (1 - assumptions.text_encoders_on_card) * text)
    return resident, round(pictures * assumptions.image_activation_gb_per_megapixel * 1e3 * model.side**2)


def mmdit_parameters(*, hidden: int, layers: int, dual_layers: int = 0, qk_norm: bool = False) -> int:
    """Weights of the transformer of Stable Diffusion 3 and 3.5.

    Every layer holds, for picture and for text, a modulation (6 × hidden outputs), four attention matrices and a
    feed-forward of 4 × hidden, all with biases; the last layer has no more text output. The first `dual_layers` have a
    second attention on the picture (MMDiT-X). Source: Esser et al. 2024, "Scaling Rectified Flow Transformers",
    section 4; diffusers, SD3Transformer2DModel.
    """

    def linear(inputs: int, outputs: int) -> int:
        return inputs * outputs + outputs

    attention, feed_forward = 4 * linear(hidden, hidden), linear(hidden, 4 * hidden) + linear(4 * hidden, hidden)
    norms = 4 * _HEAD if qk_norm else 0
    stream = linear(hidden, 6 * hidden) + attention + feed_forward
    last_text = linear(hidden, 2 * hidden) + 3 * linear(hidden, hidden)
    dual = linear(hidden, 3 * hidden) + attention + (2 * _HEAD if qk_norm else 0)
    pixels = _CHANNELS * _PATCH * _PATCH
    ends = (
        linear(pixels, hidden)
        + linear(_TIME_WIDTH, hidden)
        + linear(hidden, hidden)
        + linear(_POOLED_WIDTH, hidden)
        + linear(hidden, hidden)
        + linear(_TEXT_WIDTH, hidden)
        + linear(hidden, 2 * hidden)
        + linear(hidden, pixels)
    )
    return (2 * layers - 1) * stream + last_text + layers * norms + dual_layers * dual + ends


def _part(entry: dict[str, Any]) -> Part:
    role: Role = entry["role"]
    if "model" in entry:
        count = count_parameters(catalogue.architecture(entry["model"])).total
        return Part(role, entry["model"], count, "counted from its shape")
    if "parameters" in entry:
        return Part(role, entry["name"], entry["parameters"], entry["source"])
    return Part(role, entry["name"], mmdit_parameters(**entry["mmdit"]), "counted from its shape")
