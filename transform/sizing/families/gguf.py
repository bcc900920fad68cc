"""A model as its GGUF file lists it (see gguf_file.py). The tensors come from the file, so any family can be counted."""

from __future__ import annotations

from typing import Any

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor

_MOST_TENSORS = 1_000_000


def _gguf(config: Config) -> Architecture:
    hidden, layers = config.whole("hidden_size"), config.whole("num_hidden_layers")
    used = config.whole("experts_used", default=1)
    tensors = _tensors(config, used)
    roles = {tensor.role for tensor in tensors}
    table = next((tensor for tensor in tensors if tensor.role == "token_embd"), None)
    if table is None:
        raise BadConfig(Message("model.model_model_type_gguf_needs"))
    inner = max(
        (t.rows * t.used_experts for t in tensors if t.role.startswith(("ffn_up", "ffn_gate_exps"))), default=hidden
    )
    return Architecture(
        model_type=config.model_type,
        kind="decoder",
        hidden=hidden,
        layers=layers,
        vocab=table.rows,
        context=config.whole("max_position_embeddings"),
        tied="output" not in roles,
        ffn=inner,
        tensors=tensors,
        attention=tuple(_attention(config, layer, hidden) for layer in range(layers)),
    )


def _tensors(config: Config, used: int) -> tuple[Tensor, ...]:
    rows = config.sequence("tensors") or []
    tensors = []
    for row in rows[:_MOST_TENSORS]:
        if not (isinstance(row, list) and len(row) == 6 and isinstance(row[0], str)):
            raise BadConfig(Message("model.tensors_model_type_gguf_role"))
        role, layer, *sizes, kind = row
        if kind not in ("matrix", "embedding", "vector") or any(
            isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes
        ):
            raise BadConfig(Message("model.tensor_model_type_gguf_impossible", role=role))
        experts = sizes[2]
        if used > experts > 1:
            raise BadConfig(Message("model.token_cannot_use_experts", used=used, experts=experts))
        tensors.append(Tensor(role, layer, sizes[0], sizes[1], kind, experts, used if experts > 1 else 1))
    return tuple(tensors)


def _attention(config: Config, layer: int, hidden: int) -> AttentionLayer:
    """The attention of one layer. A layer without key-value heads keeps nothing."""
    heads = config.whole("heads")
    latent, rotary = config.optional_whole("latent"), config.optional_whole("rotary")
    key = config.whole("key_length", default=hidden // heads)
    value = config.whole("value_length", default=key)
    every, window = config.optional_whole("every"), config.optional_whole("window")
    reach = None if every is None or (layer + 1) % every == 0 else window
    if latent is not None:
        rank = latent + (rotary or 0)
        return AttentionLayer(
            heads=heads, key_dim=key, value_dim=value, cached=rank, decode_key_dim=rank, decode_value_dim=latent
        )
    return AttentionLayer(
        heads=heads, key_dim=key, value_dim=value, cached=_kv_heads(config, layer, heads) * (key + value), window=reach
    )


def _kv_heads(config: Config, layer: int, heads: int) -> int:
    kv_heads: Any = config.values.get("kv_heads", heads)
    if isinstance(kv_heads, list):
        kv_heads = kv_heads[layer] if layer < len(kv_heads) else None
    if kv_heads is None:
        return heads
    if isinstance(kv_heads, bool) or not isinstance(kv_heads, int) or not 0 <= kv_heads <= heads:
        raise BadConfig(Message("model.key_value_heads_model_type", heads=heads, kv_heads=kv_heads))
    return kv_heads


FAMILIES = {"gguf": _gguf}
