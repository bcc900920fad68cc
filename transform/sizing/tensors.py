"""A model as the list of its weight tensors, from which every other figure follows.

Parameters, bytes in any file format, multiplications for each token and the size of a LoRA adapter are all sums over the
same list, so they cannot contradict each other.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from gpuledger.message import Message
from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig

TensorKind = Literal["matrix", "embedding", "vector"]
ArchitectureKind = Literal["decoder", "encoder", "encoder_decoder"]
_MOST_TENSORS = 1_000_000
_Size = Annotated[int, msgspec.Meta(ge=1, lt=10**15)]
#: A tensor as a config lists it: role, layer, rows, columns, experts, kind and bits in the file.
_Row = tuple[
    str,
    Annotated[int, msgspec.Meta(ge=0, lt=10**6)] | None,
    _Size,
    _Size,
    _Size,
    TensorKind,
    Annotated[int, msgspec.Meta(ge=0)],
]


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight tensor, or one for each of `experts` experts.

    `role` is llama.cpp's name without the layer (`attn_q`, `ffn_down_exps`, `output`), because the rules of the GGUF formats
    use these names. `cols` is the length of a row (the number of inputs of a matrix), since formats pack along rows. A
    `matrix` is multiplied with every token, an `embedding` is a table for lookups, and a `vector` is a norm, a bias or the
    like. A token uses `used_experts` of the `experts`. `stored_bits` are the bits that it takes in the model's own files.
    """

    role: str
    layer: int | None
    rows: int
    cols: int
    kind: TensorKind = "matrix"
    experts: int = 1
    used_experts: int = 1
    stored_bits: int = 0

    @property
    def parameters(self) -> int:
        """All weights, including those of every expert."""
        return self.rows * self.cols * self.experts

    @property
    def active_parameters(self) -> int:
        """Weights that one token uses. Of the experts only the chosen ones count."""
        return self.rows * self.cols * self.used_experts


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """What the attention of one layer computes and keeps.

    A query is compared with every key that it reaches. That takes `heads` × `key_dim` multiplications for each key, and
    `heads` × `value_dim` to sum the values. The layer keeps `cached` elements (not bytes) for each token. `window` is the
    reach in tokens, None for the whole context. If keys and values are kept compressed (latent attention), decoding works in
    the compressed space, whose dimensions are `decode_key_dim` and `decode_value_dim`.

    A state-space or linear layer keeps `state_bytes` for each sequence, whatever its length. Each token works on this state
    alone, so `window` is one token. The same holds for a decoder layer that looks at the positions of an encoder.
    """

    heads: int
    key_dim: int
    value_dim: int
    cached: int
    window: int | None = None
    decode_key_dim: int | None = None
    decode_value_dim: int | None = None
    state_bytes: int = 0

    @property
    def kv_heads(self) -> int:
        """Key-value heads, which cards that share a layer can divide. A latent cache is one."""
        return 1 if self.decode_key_dim else max(1, self.cached // (self.key_dim + self.value_dim))

    def divides_among(self, cards: int) -> bool:
        """Whether cards can each take a part of the layer: as many heads each, and as many key-value heads or copies of one.

        Source: vLLM 0.11, `verify_with_parallel_config` (heads) and the attention layers of its models (key-value heads).
        """
        kv_heads = self.kv_heads
        return self.heads % cards == 0 and (kv_heads % cards == 0 or cards % kv_heads == 0)


# Has no slots, so that `experts` and the hash can be cached: every prediction needs them, and a model has many tensors.
@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Everything about a model that its sizing needs.

    `context` is the longest sequence in tokens. `tied` is true if the output projection is the token embedding itself. `ffn`
    is the widest inner width that one token passes through (in a mixture: used experts × expert width). `extra` holds the
    tensors outside the language model (a vision tower), which GGUF puts into a separate file.

    `estimated` names the key without which the weights are an estimate, and `bound` what of the layers was not understood,
    so that the cache is at most as counted. Both are empty where everything is exact. `drafting` are the weights of a layer
    beside these that only guesses a token ahead. `stored_as` is the precision of the
    model's own files, at which every tensor has its `stored_bits`. `longer` says what takes a longer context than it.
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
    estimated: str = ""
    bound: str = ""
    drafting: int = 0
    stored_as: str = ""
    longer: tuple[Message, ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((self.model_type, self.layers, self.hidden, self.tensors, self.attention))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_of_speech(self) -> bool:
        """Whether the model writes speech down."""
        return self.model_type == "whisper"

    @cached_property
    def attention_kinds(self) -> Mapping[AttentionLayer, int]:
        """The different attention layers, each with how many there are of it. Most models have one or two kinds."""
        return Counter(self.attention)

    @cached_property
    def state_layers(self) -> int:
        """How many layers keep a state in place of a cache."""
        return sum(count for layer, count in self.attention_kinds.items() if layer.state_bytes)

    @cached_property
    def experts(self) -> int:
        """The number of experts in a mixture layer, 1 for a dense model."""
        return max((tensor.experts for tensor in self.tensors), default=1)


#: Families whose makers do not count the embedding table among the active parameters, since a token uses only one row of it.
#: Source: OpenAI 2025, gpt-oss-120b & gpt-oss-20b model card, table 1 (5.13B and 3.61B active).
_WITHOUT_EMBEDDING = ("gpt_oss",)


@dataclass(frozen=True, slots=True)
class ParameterCount:
    """Numbers of weights. `embedding`, `attention`, `feed_forward`, `output` and `other` add up to `total`.

    `active` counts the weights that one token uses: all except the experts that were not chosen. It includes the whole
    embedding table, as most model cards do. `multiplied` counts the weights that a token is multiplied with: all matrices,
    of experts only the chosen ones, and the output projection even if it is the embedding table itself. The other weights
    are looked up or added.
    """

    total: int
    active: int
    multiplied: int
    embedding: int
    attention: int
    feed_forward: int
    output: int
    other: int


# Cached, because this is called for every precision and load of a model.
@functools.lru_cache(maxsize=256)
def count_parameters(architecture: Architecture) -> ParameterCount:
    """The exact number of weights, and its parts (see ParameterCount). A weight that is used twice counts once."""
    tensors = architecture.tensors + architecture.extra
    multiplied = sum(tensor.active_parameters for tensor in tensors if tensor.kind == "matrix")
    if architecture.tied:
        multiplied += architecture.vocab * architecture.hidden
    parts = {"embedding": 0, "attention": 0, "feed_forward": 0, "output": 0, "other": 0}
    for tensor in architecture.tensors:
        parts[_part(tensor)] += tensor.parameters
    parts["other"] += sum(tensor.parameters for tensor in architecture.extra)
    active = sum(tensor.active_parameters for tensor in tensors)
    if architecture.model_type in _WITHOUT_EMBEDDING:
        active -= parts["embedding"]
    return ParameterCount(
        total=sum(tensor.parameters for tensor in tensors),
        active=active,
        multiplied=multiplied,
        **parts,
    )


def _part(tensor: Tensor) -> str:
    role = tensor.role.removeprefix("enc.").removeprefix("dec.")
    if tensor.kind == "embedding":
        return "embedding"
    if "norm" in role:
        return "other"
    if role.startswith(("attn", "cross_attn", "ssm")):
        return "attention"
    if role.startswith(("ffn", "exp_probs")):
        return "feed_forward"
    return "output" if role.startswith("output") else "other"


def tensors_of(config: Config, used: int) -> tuple[Tensor, ...]:
    """The tensors that a config lists. Raises BadConfig for a list that cannot be one."""
    tensors = []
    for row in (config.sequence("tensors") or [])[:_MOST_TENSORS]:
        try:
            role, layer, rows, cols, experts, kind, bits = msgspec.convert(
                [*row, 0] if isinstance(row, list) and len(row) == 6 else row, _Row
            )
        except msgspec.ValidationError as error:
            raise BadConfig(
                "the tensors of model_type 'gguf' must be role, layer, rows, columns, experts and kind: {why}",
                why=str(error),
            ) from None
        if used > experts > 1:
            raise BadConfig("a token cannot use {used} of {experts} experts", used=used, experts=experts)
        tensors.append(Tensor(role, layer, rows, cols, kind, experts, used if experts > 1 else 1, bits))
    return tuple(tensors)
