"""A model as the list of its weight tensors, from which every other figure follows.

Parameters, bytes in any file format, multiplications a token and the size of a LoRA adapter are sums over one list, so
they cannot contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

TensorKind = Literal["matrix", "embedding", "vector"]
ArchitectureKind = Literal["decoder", "encoder", "encoder_decoder"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight tensor, or one for each of `experts` experts.

    `role` is llama.cpp's name without the layer (`attn_q`, `ffn_down_exps`, `output`): the rules of the GGUF formats
    are written in these names. `cols` is the length of a row (the inputs of a matrix), since formats pack along rows.
    A `matrix` is multiplied with every token, an `embedding` is looked up, a `vector` is a norm, a bias or the like.
    A token uses `used_experts` of the `experts`.
    """

    role: str
    layer: int | None
    rows: int
    cols: int
    kind: TensorKind = "matrix"
    experts: int = 1
    used_experts: int = 1

    @property
    def parameters(self) -> int:
        """All weights, every expert counted."""
        return self.rows * self.cols * self.experts

    @property
    def active_parameters(self) -> int:
        """Weights that one token uses: of the experts only the chosen ones."""
        return self.rows * self.cols * self.used_experts


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """What one layer's attention computes and keeps.

    A query is compared with every key of its reach: `heads` × `key_dim` multiplications a key, and `heads` ×
    `value_dim` to sum the values. `cached` elements (not bytes) are kept for each token. `window` is the reach in
    tokens, None for all of the context. Where keys and values are kept compressed (latent attention), decoding works
    in the compressed space, which has other dimensions: `decode_key_dim` and `decode_value_dim`.

    A state-space or linear layer keeps `state_bytes` for each sequence, however long it is, and each token works on that
    alone: its `window` is one token. So does a decoder that looks at an encoder's positions.
    """

    heads: int
    key_dim: int
    value_dim: int
    cached: int
    window: int | None = None
    decode_key_dim: int | None = None
    decode_value_dim: int | None = None
    state_bytes: int = 0


# Without slots, for what is worked out once: every prediction asks for the experts, and a model has hundreds of tensors.
@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Everything about a model that its sizing needs.

    `context` is the longest sequence in tokens, `tied` says that the output projection is the token embedding itself,
    `ffn` the widest inner width that one token passes through (of a mixture: used experts × expert width).
    `extra` are tensors outside the language model (a vision tower), which GGUF puts in a file of its own.
    """

    model_type: str
    kind: ArchitectureKind
    hidden: int
    layers: int
    vocab: int
    context: int
    tied: bool
    ffn: int
    tensors: tuple[Tensor, ...]
    attention: tuple[AttentionLayer, ...]
    extra: tuple[Tensor, ...] = ()

    @cached_property
    def experts(self) -> int:
        """Experts of a mixture layer, 1 for a dense model."""
        return max((tensor.experts for tensor in self.tensors), default=1)
