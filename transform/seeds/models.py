"""Rows of core.model, core.model_weights, core.model_cache and core.model_stage.

Everything that follows from the shape of a model is counted here once, so that SQL can size any model at any context and
precision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.added_models import OwnModel
from gpuledger.transform.sizing.diffusion import DiffusionModel, diffusion_models, shape_in, weights_bytes
from gpuledger.transform.sizing.running import activation_bytes, kv_bytes_per_token
from gpuledger.transform.sizing.tensors import Architecture, count_parameters
from gpuledger.transform.sizing.weights import UNIFORM_BITS, known_precisions, weights_at
from gpuledger.warehouse.load.stage import Value

#: A name that is only a number of bits (`4`) means the same as the type (`int4`), so it is left out.
_PRECISIONS = [name for name in known_precisions() if not name.isdigit()]
_UNIFORM = [name for name in UNIFORM_BITS if not name.isdigit()]
_SHOWN = ("fp16", "int8", "int4", "Q4_K_M")


#: The tables with their rows, in the dictionary's order of columns.
Tables: TypeAlias = dict[str, list[list[Value]]]


def no_rows() -> Tables:
    """The four tables without a row."""
    return {"core.model": [], "core.model_weights": [], "core.model_cache": [], "core.model_stage": []}


def rows() -> Tables:
    """The rows of the models of the catalogue, and of image models."""
    tables = no_rows()
    for model in catalogue.models().values():
        origin = _Origin(model.family, model.repository, model.published_parameters, model.published_source)
        _add(tables, model.model_id, catalogue.architecture(model.model_id), origin)
    for image in diffusion_models().values():
        _add_image(tables, image)
    return tables


def with_own(tables: Tables, own: Iterable[OwnModel]) -> Tables:
    """The same tables, with the rows of models that the user added."""
    for added in own:
        origin, shape = _Origin("own", added_on=added.added_on.isoformat()), shape_in(added.config)
        if isinstance(shape, DiffusionModel):
            _add_image(tables, replace(shape, model_id=added.model_id), origin.added_on)
        else:
            _add(tables, added.model_id, shape, origin)
    return tables


class _Origin(NamedTuple):
    """The origin of a model, and the figures that its makers publish."""

    family: str
    repository: str | None = None
    published_parameters: Value = None
    published_source: Value = None
    #: The day on which a user added it.
    added_on: str | None = None


def _add(tables: Tables, model_id: str, shape: Architecture, origin: _Origin) -> None:
    count = count_parameters(shape)
    sizes = dict(zip(_PRECISIONS, weights_at(shape, _PRECISIONS), strict=True))
    # Activations take a constant, for the last token of each sequence, plus the same number of bytes for every token.
    one, two = activation_bytes(shape, 1), activation_bytes(shape, 2)
    used = max((tensor.used_experts for tensor in shape.tensors if tensor.experts > 1), default=1)
    tables["core.model"].append(
        [
            model_id, shape.kind, origin.family, origin.repository, count.total, count.active,
            sum(tensor.parameters for tensor in shape.extra),
            origin.published_parameters, origin.published_source, shape.context, shape.layers, shape.hidden,
            shape.attention[0].heads if shape.attention else None,
            min((layer.kv_heads for layer in shape.attention if layer.cached), default=None), shape.vocab,
            shape.experts, used, kv_bytes_per_token(shape),
            *(sizes[precision].total / 1e9 for precision in _SHOWN), two - one, 2 * one - two, None, None, origin.added_on,
        ]
    )  # fmt: skip
    tables["core.model_weights"] += [
        [model_id, name, size.total, size.bits_per_weight, size.always_read, size.expert]
        for name, size in sizes.items()
    ]
    windows: Counter[int | None] = Counter()
    for layer in shape.attention:
        # A state of fixed size is kept like the cache of one token, at 16 bits, so it counts as a window of one token.
        windows[layer.window] += layer.cached + layer.state_bytes // 2
    tables["core.model_cache"] += [[model_id, window, elements] for window, elements in windows.items()]


def _add_image(tables: Tables, image: DiffusionModel, added_on: str | None = None) -> None:
    denoiser = next(stage.parameters for stage in image.stages if stage.role == "denoiser")
    sizes = {name: weights_bytes(image, name) for name in _UNIFORM}
    shown = [sizes[name] / 1e9 if name in sizes else None for name in _SHOWN]
    kind = "diffusion" if image.clip is None else "video"
    tables["core.model"].append(
        [
            image.model_id, kind, kind, image.repository, image.parameters, denoiser, None, None, None,
            *[None] * 9, *shown, None, None, image.steps, image.side, added_on,
        ]
    )  # fmt: skip
    tables["core.model_weights"] += [
        [image.model_id, name, size, size * 8 / image.parameters, None, None] for name, size in sizes.items()
    ]
    tables["core.model_stage"] += [[image.model_id, *stage] for stage in image.stages]
