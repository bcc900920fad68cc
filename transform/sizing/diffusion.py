"""Models of images and of video, each as the parts that run for one picture or clip.

The models stand in `models/diffusion.toml` and `models/video.toml`.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig, SizingError, UnknownPrecision, of_a_stranger
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.tensors import Architecture, count_parameters
from gpuledger.transform.sizing.weights import UNIFORM_BITS

#: The type of a config that was made from a folder of parts (see files/pipeline.py).
MODEL_TYPE = "diffusers"
Role = Literal["denoiser", "text", "vae"]
#: Pixels of a side where the model's files do not say it.
_USUAL_SIDE = 1024
_MOST_PARAMETERS = 10**14
#: The part of the operations of a picture of the usual size that attention takes: that of FLUX.1 (models/diffusion.toml).
_ATTENTION_OF_A_PICTURE = 0.2


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
    def denoising_bytes(self) -> int:
        """An estimate of the largest temporary tensors of the denoiser.

        For each token it keeps the stream and its normed copy at 32 bits, and the widest projection at 16 bits
        (feed-forward, or query, key, value and output).
        """
        return self.tokens * (2 * 4 * self.hidden + 2 * max(self.inner, 4 * self.hidden))

    @property
    def decoding_bytes(self) -> int:
        """An estimate of the largest temporary tensors of the decoder.

        It writes `stride` frames at a time at 32 bits, keeps four tensors of its widest layer at once, and keeps the whole
        clip. Runtimes differ, so this is an estimate and not a bound. The makers state 8.19 GB for Wan2.1's 1.3B without its
        text encoder; with weights of 32 bits this gives 9.0.
        """
        return 4 * self.width * self.height * (4 * self.stride * self.channels + 3 * self.frames)


class Stage(NamedTuple):
    """What works on the card at once: the text encoders, one denoiser, or the decoder.

    `activation_bytes` is the temporary memory for one clip, None for a picture, for which assumptions state it.
    """

    role: Role
    parameters: int
    activation_bytes: int | None


class ImageMemory(NamedTuple):
    """Bytes on the card for pictures or clips: `weights` and `activations` of the stage that needs most, and `all_resident`
    if no network ever leaves the card.
    """

    weights: int
    activations: int
    all_resident: int

    @property
    def needed(self) -> int:
        """Bytes of the stage that needs most."""
        return self.weights + self.activations


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """A model of images, or of video if it has a `clip`.

    `steps` and `side` (pixels) are its makers' defaults for one square picture, `also` other names of it, `licence` that of
    its weights as the hub names it. `height` is that
    of a picture that is not square, and `is_usual` is false of what somebody asked for instead of the defaults. In each step
    the denoiser runs `passes` times, each with `pass_tflop` × 10^12 operations (None: nothing says it). `bf16` says that it
    needs the range of bf16.
    """

    model_id: str
    repository: str
    steps: int | None
    side: int | None
    parts: tuple[Part, ...]
    pass_tflop: float | None
    passes: int = 1
    bf16: bool = False
    clip: Clip | None = None
    also: tuple[str, ...] = ()
    licence: str | None = None
    height: int | None = None
    is_usual: bool = True

    def asked(self, size: str | None, frames: int | None, steps: int | None) -> DiffusionModel:
        """The same model with a picture or a clip of other pixels (`1280x720`), frames or steps. Raises SizingError.

        The operations of a pass grow with its tokens, and those of attention with their square.
        """
        if not (size or frames or steps):
            return self
        if frames and self.clip is None:
            raise SizingError(
                "{model_id} makes pictures, which have no frames; leave --frames out", model_id=self.model_id
            )
        width, height = _pixels(size) if size else (None, None)
        clip, side, upright = self.clip, self.side, self.height
        if clip is not None:
            width, height = width or clip.width, height or clip.height
            clip = replace(clip, frames=frames or clip.frames, width=width, height=height)
            more = clip.tokens / self.clip.tokens if self.clip else 1.0
            linear = 2e-12 * max(part.parameters for part in self.parts if part.role == "denoiser") * clip.tokens / more
            attention = max(0.0, 1 - linear / self.pass_tflop) if self.pass_tflop else 0.0
        else:
            side, upright = (width, height) if width else (side, upright)
            more = (side or 0) * (upright or side or 0) / ((self.side or 1) * (self.height or self.side or 1))
            attention = _ATTENTION_OF_A_PICTURE
        tflop = self.pass_tflop and self.pass_tflop * ((1 - attention) * more + attention * more**2)
        return replace(self, steps=steps or self.steps, side=side, height=upright, clip=clip, pass_tflop=tflop,
                       is_usual=False)  # fmt: skip

    @property
    def parameters(self) -> int:
        """Weights of all parts."""
        return sum(part.parameters for part in self.parts)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What works on the card one after the other. If a model has two denoisers, one works and then the other."""
        sizes = {role: [part.parameters for part in self.parts if part.role == role] for role in get_args(Role)}
        clip = self.clip
        denoising, decoding = (None, None) if clip is None else (clip.denoising_bytes, clip.decoding_bytes)
        return (
            Stage("text", sum(sizes["text"]), 0),
            Stage("denoiser", max(sizes["denoiser"]), denoising),
            Stage("vae", sum(sizes["vae"]), decoding),
        )

    @property
    def makes(self) -> str:
        """One piece of what the model makes, in words: a picture or a clip, with its size."""
        if self.clip is None:
            return f"picture of {self.side} × {self.height or self.side}"
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
                pass_tflop=entry["pass_tflop"],
                passes=entry.get("passes", 1),
                bf16=entry.get("bf16", False),
                clip=Clip(**entry["clip"]) if "clip" in entry else None,
                also=tuple(entry.get("also", ())),
                licence=entry.get("licence"),
            )
            for entry in entries
        }
    )


def shape_in(config: Mapping[str, object]) -> Architecture | DiffusionModel:
    """The model that a config describes. Raises SizingError, also where no model is that large."""
    what = str(config.get("_name_or_path") or config.get("model_type"))[:80]
    with of_a_stranger(what):
        shape = of_parts(config) if config.get("model_type") == MODEL_TYPE else read_config(config)
        for quantity, value, most in _extents(shape):
            if value > most:
                raise BadConfig(
                    "{what}: {quantity}: {value:.3g}, and no model has over {most:g}: fetch its files again, or "
                    "correct them", what=what, quantity=quantity, value=value, most=most,
                )  # fmt: skip
        return shape


def _extents(shape: Architecture | DiffusionModel) -> Iterator[tuple[str, float, float]]:
    """What a shape comes to, each with the most that is believed: a hundred times the largest model of 2026.

    Below these every figure of the tables fits into 64 bits. Raises BadConfig for a model without weights.
    """
    if isinstance(shape, DiffusionModel):
        yield "parameters", shape.parameters, _MOST_PARAMETERS
        yield "pixels of a side", shape.side or 0, 100_000
        yield "bytes of a clip", max(stage.activation_bytes or 0 for stage in shape.stages), 1e15
        return
    count, tensors = count_parameters(shape).total, shape.tensors + shape.extra
    if not count:
        raise BadConfig("no weights are listed for this model: fetch its files again")
    yield "parameters", count, _MOST_PARAMETERS
    yield "bits of a weight in its files", sum(tensor.stored_bits for tensor in tensors) / max(count, 1), 80
    yield "context", shape.context, 1e9
    yield "values in the cache for each token", sum(layer.cached for layer in shape.attention), 1e8
    yield "bytes of state", sum(layer.state_bytes for layer in shape.attention), 1e12
    yield "width of attention", sum(layer.heads * (layer.key_dim + layer.value_dim) for layer in shape.attention), 1e12


def of_parts(config: Mapping[str, object]) -> DiffusionModel:
    """The model whose folder gave `config` (see files/pipeline.py), with a usual size of pictures if no part states it.

    Raises BadConfig.
    """
    whole, clip, name = Config(config, MODEL_TYPE), _clip_of(config), str(config.get("_name_or_path") or MODEL_TYPE)
    listed = msgspec.convert(whole.sequence("parts") or [], list[tuple[Role, str, int, str]])
    parts = tuple(Part(*part) for part in listed if part[2] > 0)
    if not any(part.role == "denoiser" for part in parts):
        raise BadConfig("the model_index.json names no transformer and no U-Net with weights")
    denoiser = whole.part("denoiser") or Config({}, MODEL_TYPE)
    side = None if clip else 8 * denoiser.whole("sample_size", default=_USUAL_SIDE // 8)
    return DiffusionModel(name, name, None, side, parts, None, clip=Clip(**clip) if clip else None)


def _clip_of(config: Mapping[str, Any]) -> dict[str, int] | None:
    """What a pipeline's own configs say of a clip (see Clip), None if it makes pictures.

    How long and large a clip is, no file says: the usual 81 frames of 832 × 480 are assumed.
    """
    denoiser, vae = (Config(config.get(name) or {}, MODEL_TYPE) for name in ("denoiser", "vae"))
    width = (denoiser.optional_whole("num_attention_heads") or 0) * (denoiser.optional_whole("attention_head_dim") or 0)
    if "3D" not in denoiser.text("_class_name", default="") or not width:
        return None
    patch, channels = denoiser.values.get("patch_size"), (vae.sequence("block_out_channels") or [None])[0]
    side = patch[-1] if isinstance(patch, list) and patch else patch
    pixels = vae.whole("spatial_compression_ratio", "scale_factor_spatial", default=8)
    return {
        "frames": 81, "width": 832, "height": 480, "per_second": 16, "hidden": width,
        "stride": vae.whole("temporal_compression_ratio", "scale_factor_temporal", default=4),
        "pixel_stride": pixels * (side if isinstance(side, int) else 1),
        "inner": denoiser.whole("ffn_dim", default=4 * width),
        "channels": channels if isinstance(channels, int) else vae.whole("base_dim", default=128),
    }  # fmt: skip


def meant(name: str) -> str | None:
    """The id of the model of images or of video that `name` means: an id, a repository or another name of it.

    Letters and digits alone count: `FLUX.2 dev` and `flux-2-dev` are one name. None where that leaves several.
    """
    plain = catalogue.plain(name)
    found = {
        model_id
        for model_id, model in diffusion_models().items()
        if plain in map(catalogue.plain, (model_id, model.repository, *model.also))
    }
    return found.pop() if len(found) == 1 else None


def weights_bytes(model: DiffusionModel, precision: str) -> int:
    """Bytes of the weights with all parts at one uniform precision (`fp16`, `fp8`, `int4` …). Raises UnknownPrecision."""
    return model.parameters * _bits(precision) // 8


def image_memory(model: DiffusionModel, precision: str, pictures: int, assumptions: Assumptions) -> ImageMemory:
    """Bytes that `pictures` (or clips) at the makers' size need.

    Runtimes load the encoders, the denoiser and the decoder one after the other, and remove each after its work; of the
    networks that wait, the part `networks_on_card` stays. Only the temporary memory of a clip is calculated from its shape
    (see Clip). Raises UnknownPrecision.
    """
    bits, total = _bits(precision), weights_bytes(model, precision)
    per_megapixel = {
        "text": 0.0,
        "denoiser": assumptions.denoiser_activation_gb_per_megapixel,
        "vae": assumptions.image_activation_gb_per_megapixel,
    }
    needs = []
    for stage in model.stages:
        weights, each = stage.parameters * bits // 8, stage.activation_bytes
        if each is None:
            each = round(per_megapixel[stage.role] * 1e3 * (model.side or 0) * (model.height or model.side or 0))
        needs.append((round(weights + assumptions.networks_on_card * (total - weights)), pictures * each))
    weights, activations = max(needs, key=sum)
    return ImageMemory(weights, activations, total + max(each for _, each in needs))


def _bits(precision: str) -> int:
    bits = UNIFORM_BITS.get(precision.lower())
    if bits is None:
        raise UnknownPrecision(
            "precision {precision!r} is not known for image models; known are {uniform_bits}", precision=precision,
            uniform_bits=tuple(UNIFORM_BITS),
        )  # fmt: skip
    return bits


def _pixels(size: str) -> tuple[int, int]:
    """Width and height of `1280x720`. Raises SizingError for anything else, and below 64 or above 8,192 pixels."""
    match = re.fullmatch(r"(\d{2,4})\s*[x×*]\s*(\d{2,4})", size.strip().lower())
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (64 <= width <= 8192 and 64 <= height <= 8192):
        raise SizingError(
            "{size!r} is no size of a picture; give width and height from 64 to 8192 pixels, such as 1280x720",
            size=size,
        )
    return width, height


def _part(entry: dict[str, Any]) -> Part:
    role: Role = entry["role"]
    if "model" in entry:
        count = count_parameters(catalogue.architecture(entry["model"])).total
        return Part(role, entry["model"], count, "counted from its shape")
    return Part(role, entry["name"], entry["parameters"], entry["source"])
