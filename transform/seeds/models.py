"""Rows of core.model and the two tables beside it: everything that follows from a model's shape, counted here once, so that
SQL can size any model at any context and precision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.architecture import count_parameters, read_config
from gpuledger.transform.sizing.diffusion import DiffusionModel, diffusion_models, weights_bytes
from gpuledger.transform.sizing.memory import activation_bytes, kv_bytes_per_token
from gpuledger.transform.sizing.own import OwnModel
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import UNIFORM_BITS, known_precisions, weights
from gpuledger.warehouse.load.stage import Value

#: The names of a number of bits alone (`4`) say the same as the type (`int4`).
_PRECISIONS = [name for name in known_precisions() if not name.isdigit()]
_UNIFORM = [name for name in UNIFORM_BITS if not name.isdigit()]
_SHOWN = ("fp16", "int8", "int4", "Q4_K_M")


@dataclass(slots=True)
class ModelRows:
    """Rows by table, in the dictionary's order of columns."""

    model: list[list[Value]] = field(default_factory=list)
    weights: list[list[Value]] = field(default_factory=list)
    cache: list[list[Value]] = field(default_factory=list)


def rows(own: Iterable[OwnModel] = ()) -> ModelRows:
    """The models of the catalogue, image models, and `own`."""
    found = ModelRows()
    for model in catalogue.models().values():
        published: list[Value] = [model.published_parameters, model.published_source]
        words: list[Value] = [model.family, model.repository]
        _add(found, model.model_id, catalogue.architecture(model.model_id), words, published, None)
    for image in diffusion_models().values():
        _add_image(found, image)
    _add_own(found, own)
    return found


def own_rows(own: Iterable[OwnModel]) -> ModelRows:
    """The models that the user added, alone."""
    found = ModelRows()
    _add_own(found, own)
    return found


def _add_own(found: ModelRows, own: Iterable[OwnModel]) -> None:
    for added in own:
        _add(found, added.model_id, read_config(added.config), ["own", None], [None, None], added.added_on.isoformat())


def _add(
    found: ModelRows, model_id: str, shape: Architecture, words: list[Value], published: list[Value], added: str | None
) -> None:
    count = count_parameters(shape)
    sizes = {precision: weights(shape, precision) for precision in _PRECISIONS}
    # Activations grow by the same bytes with every token, from what the last token of each sequence takes.
    one, two = activation_bytes(shape, 1), activation_bytes(shape, 2)
    used = max((tensor.used_experts for tensor in shape.tensors if tensor.experts > 1), default=1)
    found.model.append(
        [
            model_id, shape.kind, *words, count.total, count.active, *published, shape.context, shape.layers,
            shape.hidden, shape.vocab, shape.experts, used, kv_bytes_per_token(shape),
            *(sizes[precision].total / 1e9 for precision in _SHOWN), two - one, 2 * one - two, None, None, added,
        ]
    )  # fmt: skip
    found.weights += [
        [model_id, name, size.total, size.bits_per_weight, size.always_read, size.expert, 0]
        for name, size in sizes.items()
    ]
    windows: Counter[int | None] = Counter()
    for layer in shape.attention:
        windows[layer.window] += layer.cached
    found.cache += [[model_id, window, elements] for window, elements in windows.items()]


def _add_image(found: ModelRows, image: DiffusionModel) -> None:
    denoiser = sum(part.parameters for part in image.parts if part.role == "denoiser")
    sizes = {name: weights_bytes(image, name) for name in _UNIFORM}
    shown = [sizes[name] / 1e9 if name in sizes else None for name in _SHOWN]
    found.model.append(
        [
            image.model_id, "diffusion", "diffusion", image.repository, image.parameters, denoiser, None, None,
            *[None] * 7, *shown, None, None, image.steps, image.side, None,
        ]
    )  # fmt: skip
    found.weights += [
        [image.model_id, name, size, size * 8 / image.parameters, None, None,
         size - weights_bytes(image, name, offload_text=True)]
        for name, size in sizes.items()
    ]  # fmt: skip
