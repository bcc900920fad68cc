"""The pieces of which model families are built, as weight tensors with the names that llama.cpp gives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuledger.transform.sizing.tensors import Tensor


def matrix(role: str, layer: int | None, rows: int, cols: int, *, bias: bool = False) -> Iterator[Tensor]:
    """A linear layer from `cols` inputs to `rows` outputs."""
    yield Tensor(role, layer, rows, cols)
    if bias:
        yield vector(f"{role}_bias", layer, rows)


def vector(role: str, layer: int | None, length: int) -> Tensor:
    """A norm's gain, a bias, or any other vector."""
    return Tensor(role, layer, 1, length, "vector")


def norm(role: str, layer: int | None, width: int, *, bias: bool = False) -> Iterator[Tensor]:
    """An RMSNorm, which has a gain, or with `bias` a LayerNorm, which has a gain and a shift."""
    yield vector(role, layer, width)
    if bias:
        yield vector(f"{role}_bias", layer, width)


def embedding(role: str, rows: int, width: int) -> Tensor:
    """A table for lookups: tokens, positions or segments."""
    return Tensor(role, None, rows, width, "embedding")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The attention of a layer. kv_heads = heads makes it multi-head, kv_heads = 1 multi-query, anything between grouped."""

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    qkv_bias: bool = False
    output_bias: bool = False
    #: Query, key and value are stored as one matrix.
    fused: bool = False


def grouped_attention(layer: int, attention: Attention) -> Iterator[Tensor]:
    """Query, key, value and output projections. Source: Vaswani et al. 2017; Shazeer 2019; Ainslie et al. 2023."""
    a = attention
    query, key = a.heads * a.head_dim, a.kv_heads * a.head_dim
    if a.fused:
        yield from matrix("attn_qkv", layer, query + 2 * key, a.hidden, bias=a.qkv_bias)
    else:
        yield from matrix("attn_q", layer, query, a.hidden, bias=a.qkv_bias)
        yield from matrix("attn_k", layer, key, a.hidden, bias=a.qkv_bias)
        yield from matrix("attn_v", layer, key, a.hidden, bias=a.qkv_bias)
    yield from matrix("attn_output", layer, a.hidden, query, bias=a.output_bias)


def gated_ffn(layer: int, hidden: int, inner: int, *, bias: bool = False, suffix: str = "") -> Iterator[Tensor]:
    """SwiGLU or GeGLU: three matrices. Source: Shazeer, "GLU Variants Improve Transformer", 2020."""
    yield from matrix(f"ffn_gate{suffix}", layer, inner, hidden, bias=bias)
    yield from matrix(f"ffn_up{suffix}", layer, inner, hidden, bias=bias)
    yield from matrix(f"ffn_down{suffix}", layer, hidden, inner, bias=bias)


def plain_ffn(layer: int, hidden: int, inner: int, *, bias: bool, suffix: str = "") -> Iterator[Tensor]:
    """Two matrices with an activation between. Source: Vaswani et al. 2017."""
    yield from matrix(f"ffn_up{suffix}", layer, inner, hidden, bias=bias)
    yield from matrix(f"ffn_down{suffix}", layer, hidden, inner, bias=bias)
