"""Models of images and of video as the parts that run for one picture or clip: `models/diffusion.toml` and `video.toml`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """What a model of video makes by its makers' default: `frames` pictures of `width` × `height` pixels at `per_second`.

    `stride` and `pixel_stride` say how many frames and how many pixels of a side are one token, `hidden` and `inner` how
    wide the denoiser is, `channels` how many values the decoder keeps of a pixel where it is widest.
    """

    frames: int
    width: int
    height: int
    per_second: int
    stride: int
    pixel_stride: int
    hidden: int
    inner: int
    channels: int

    @property
    def tokens(self) -> int:
        """Tokens that the denoiser works on: the first frame is one by itself."""
        return (
            ((self.frames - 1) // self.stride + 1)
            * (self.width // self.pixel_stride)
            * (self.height // self.pixel_stride)
        )

    @property
    def activation_bytes(self) -> int:
        """Estimate of the largest temporary tensors of one clip: of the denoiser or of the decoder, which run in turn.

        The denoiser keeps of each token the stream and its normed copy at 32 bits and the widest projection at 16
        (feed-forward, or query, key, value and output). The decoder writes `stride` frames at a time at 32 bits, with four
        tensors of its widest layer alive, and keeps the whole clip. Runtimes differ; this is an estimate, not a bound. The
        makers say 8.19 GB of Wan2.1's 1.3B without its text encoder; with weights of 32 bits this gives 9.0.
        """
        denoising = self.tokens * (2 * 4 * self.hidden + 2 * max(self.inner, 4 * self.hidden))
        pixels = self.width * self.height
        decoding = 4 * pixels * (4 * self.stride * self.channels + 3 * self.frames)
        return max(denoising, decoding)


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """A model of images or, with a `clip`, of video; `steps` and `side` (pixels) are its makers' defaults for one square
    picture.
    """

    model_id: str
    repository: str
    steps: int
    side: int | None
    parts: tuple[Part, ...]
    clip: Clip | None = None

    @property
    def parameters(self) -> int:
        """Weights of all parts."""
        return sum(part.parameters for part in self.parts)

    @property
    def makes(self) -> str:
        """One piece of what it makes, as it is asked for."""
        if self.clip is None:
            return f"picture of {self.side} × {self.side}"
        clip = self.clip
        return f"clip of {clip.frames} frames, {clip.width} × {clip.height}"


@functools.cache
def diffusion_models() -> Mapping[str, DiffusionModel]:
    """All models of images and of video by id."""
    texts = ((catalogue.MODELS / f"{name}.toml").read_text(encoding="utf-8") for name in catalogue.OF_DIFFUSION)
    entries = [entry for text in texts for entry in tomllib.loads(text)["diffusion"]]
    return MappingProxyType(
        {
            entry["id"]: DiffusionModel(
                model_id=entry["id"],
                repository=entry["repository"],
                steps=entry["steps"],
                side=entry.get("side"),
                parts=tuple(_part(part) for part in entry["part"]),
                clip=Clip(**entry["clip"]) if "clip" in entry else None,
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
    """Bytes of the weights that stay on the card, and of temporary memory for `pictures` (or clips) at the makers' size.

    Both follow assumptions (`text_encoders_on_card`, `image_activation_gb_per_megapixel`): runtimes differ widely. That of a
    clip is counted (see Clip).
    Raises UnknownPrecision.
    """
    total = weights_bytes(model, precision)
    text = total - weights_bytes(model, precision, offload_text=True)
    resident = round(total - (1 - assumptions.text_encoders_on_card) * text)
    if model.clip is not None:
        return resident, pictures * model.clip.activation_bytes
    side = model.side or 0
    return resident, round(pictures * assumptions.image_activation_gb_per_megapixel * 1e3 * side**2)


def _linear(inputs: int, outputs: int) -> int:
    """Weights of one linear layer with its bias."""
    return inputs * outputs + outputs


def mmdit_parameters(*, hidden: int, layers: int, dual_layers: int = 0, qk_norm: bool = False) -> int:
    """Weights of the transformer of Stable Diffusion 3 and 3.5.

    Every layer holds, for picture and for text, a modulation (6 × hidden outputs), four attention matrices and a
    feed-forward of 4 × hidden, all with biases; the last layer has no more text output. The first `dual_layers` have a
    second attention on the picture (MMDiT-X). Source: Esser et al. 2024, "Scaling Rectified Flow Transformers",
    section 4; diffusers, SD3Transformer2DModel.
    """

    attention, feed_forward = 4 * _linear(hidden, hidden), _linear(hidden, 4 * hidden) + _linear(4 * hidden, hidden)
    norms = 4 * _HEAD if qk_norm else 0
    stream = _linear(hidden, 6 * hidden) + attention + feed_forward
    last_text = _linear(hidden, 2 * hidden) + 3 * _linear(hidden, hidden)
    dual = _linear(hidden, 3 * hidden) + attention + (2 * _HEAD if qk_norm else 0)
    pixels = _CHANNELS * _PATCH * _PATCH
    ends = (
        _linear(pixels, hidden)
        + _linear(_TIME_WIDTH, hidden)
        + _linear(hidden, hidden)
        + _linear(_POOLED_WIDTH, hidden)
        + _linear(hidden, hidden)
        + _linear(_TEXT_WIDTH, hidden)
        + _linear(hidden, 2 * hidden)
        + _linear(hidden, pixels)
    )
    return (2 * layers - 1) * stream + last_text + layers * norms + dual_layers * dual + ends


def wan_parameters(*, hidden: int, inner: int, layers: int, channels: int) -> int:
    """Weights of Wan's transformer of text to video.

    Every layer has attention within the clip and to the text (four matrices each, with norms of query and key), a norm
    between them, a feed-forward of two matrices, and a modulation of 6 × hidden. Source: Wan Team 2025, "Wan: Open and
    Advanced Large-Scale Video Generative Models", section 4.1; Wan-Video/Wan2.1, wan/modules/model.py.
    """

    attention = 4 * _linear(hidden, hidden) + 2 * hidden
    block = 2 * attention + 2 * hidden + _linear(hidden, inner) + _linear(inner, hidden) + 6 * hidden
    pixels = channels * _PATCH * _PATCH
    ends = (
        _linear(pixels, hidden)
        + _linear(_TEXT_WIDTH, hidden)
        + _linear(hidden, hidden)
        + _linear(_TIME_WIDTH, hidden)
        + _linear(hidden, hidden)
        + _linear(hidden, 6 * hidden)
        + 2 * hidden
        + _linear(hidden, pixels)
    )
    return layers * block + ends


def _part(entry: dict[str, Any]) -> Part:
    role: Role = entry["role"]
    if "wan" in entry:
        return Part(role, entry["name"], wan_parameters(**entry["wan"]), entry["source"])
    if "model" in entry:
        count = count_parameters(catalogue.architecture(entry["model"])).total
        return Part(role, entry["model"], count, "counted from its shape")
    if "parameters" in entry:
        return Part(role, entry["name"], entry["parameters"], entry["source"])
    return Part(role, entry["name"], mmdit_parameters(**entry["mmdit"]), "counted from its shape")
