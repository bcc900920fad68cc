"""Models of images and of video, each as the parts that run for one picture or clip.

The models stand in `models/diffusion.toml` and `models/video.toml`.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from gpuledger.extract.message import Message
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
    """One network of an image model. `source` says where its number of parameters comes from."""

    role: Role
    name: str
    parameters: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """The clip that a model of video makes by its makers' defaults.

    It has `frames` pictures of `width` × `height` pixels, shown at `per_second`. One token covers `stride` frames and
    `pixel_stride` pixels of each side. `hidden` and `inner` are the widths of the denoiser, `channels` the number of values
    that the widest layer of the decoder keeps for each pixel.
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
        """Tokens that the denoiser works on. The first frame has tokens of its own."""
        return (
            ((self.frames - 1) // self.stride + 1)
            * (self.width // self.pixel_stride)
            * (self.height // self.pixel_stride)
        )

    @property
    def activation_bytes(self) -> int:
        """An estimate of the largest temporary tensors of one clip. Denoiser and decoder run in turn, so the larger counts.

        For each token the denoiser keeps the stream and its normed copy at 32 bits, and the widest projection at 16 bits
        (feed-forward, or query, key, value and output). The decoder writes `stride` frames at a time at 32 bits, keeps four
        tensors of its widest layer at once, and keeps the whole clip. Runtimes differ, so this is an estimate and not a
        bound. The makers state 8.19 GB for Wan2.1's 1.3B without its text encoder; with weights of 32 bits this gives 9.0.
        """
        denoising = self.tokens * (2 * 4 * self.hidden + 2 * max(self.inner, 4 * self.hidden))
        pixels = self.width * self.height
        decoding = 4 * pixels * (4 * self.stride * self.channels + 3 * self.frames)
        return max(denoising, decoding)


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """A model of images, or of video if it has a `clip`.

    `steps` and `side` (pixels) are its makers' defaults for one square picture, `also` other names of it.
    """

    model_id: str
    repository: str
    steps: int
    side: int | None
    parts: tuple[Part, ...]
    clip: Clip | None = None
    also: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """Weights of all parts."""
        return sum(part.parameters for part in self.parts)

    @property
    def makes(self) -> str:
        """One piece of what the model makes, in words: a picture or a clip, with its size."""
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
                also=tuple(entry.get("also", ())),
            )
            for entry in entries
        }
    )


def meant(name: str) -> str | None:
    """The id of the model of images or of video that `name` means: an id, a repository or another name of it."""
    plain = name.rpartition("/")[2].lower()
    for model_id, model in diffusion_models().items():
        if plain in (model_id, model.repository.rpartition("/")[2].lower(), *model.also):
            return model_id
    return None


def get(model_id: str) -> DiffusionModel:
    """The image model called `model_id`. Raises UnknownModel, with the known ids, if there is none."""
    known = diffusion_models()
    if model_id not in known:
        raise UnknownModel(Message("model.no_image_model_called", model_id=model_id, known=tuple(known)))
    return known[model_id]


def weights_bytes(model: DiffusionModel, precision: str, *, offload_text: bool = False) -> int:
    """Bytes of the weights on the card, with all parts at one uniform precision (`fp16`, `fp8`, `int4` …).

    With `offload_text` the text encoders are not counted: on small cards runtimes remove them after their work.
    Raises UnknownPrecision.
    """
    bits = UNIFORM_BITS.get(precision.lower())
    if bits is None:
        raise UnknownPrecision(
            Message("model.precision_not_known_image_models", precision=precision, uniform_bits=tuple(UNIFORM_BITS))
        )
    resident = sum(part.parameters for part in model.parts if not (offload_text and part.role == "text"))
    return resident * bits // 8


def image_memory(model: DiffusionModel, precision: str, pictures: int, assumptions: Assumptions) -> tuple[int, int]:
    """Bytes of the weights that stay on the card, and of temporary memory for `pictures` (or clips) at the makers' size.

    Both follow from assumptions (`text_encoders_on_card`, `image_activation_gb_per_megapixel`), because runtimes differ
    widely. Only the temporary memory of a clip is calculated from its shape (see Clip). Raises UnknownPrecision.
    """
    total = weights_bytes(model, precision)
    text = total - weights_bytes(model, precision, offload_text=True)
    resident = round(total - (1 - assumptions.text_encoders_on_card) * text)
    if model.clip is not None:
        return resident, pictures * model.clip.activation_bytes
    side = model.side or 0
    return resident, round(pictures * assumptions.image_activation_gb_per_megapixel * 1e3 * side**2)


def _linear(inputs: int, outputs: int) -> int:
    """Weights of one linear layer and its bias."""
    return inputs * outputs + outputs


def mmdit_parameters(*, hidden: int, layers: int, dual_layers: int = 0, qk_norm: bool = False) -> int:
    """Weights of the transformer of Stable Diffusion 3 and 3.5.

    For the picture and for the text, every layer has a modulation (6 × hidden outputs), four attention matrices and a
    feed-forward of 4 × hidden, all with biases. The last layer has no text output. The first `dual_layers` layers have a
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
    """Weights of Wan's transformer from text to video.

    Every layer has attention within the clip and attention to the text (four matrices each, with norms of query and key), a
    norm between the two, a feed-forward of two matrices, and a modulation of 6 × hidden. Source: Wan Team 2025, "Wan: Open
    and Advanced Large-Scale Video Generative Models", section 4.1; Wan-Video/Wan2.1, wan/modules/model.py.
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
