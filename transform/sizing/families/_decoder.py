"""The decoder that most families share. Each layer has a norm, grouped attention, a norm and a feed-forward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of a decoder, from its config. `windows` holds the reach of each layer in tokens, None for all of them."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int
    tied: bool
    windows: tuple[int | None, ...]


def read_shape(
    config: Config, *, tied: bool, context: int | None = None, windows: tuple[int | None, ...] = ()
) -> Shape:
    """The shape that `config` states. `tied` is the family's default, for a config that does not say it.

    Raises BadConfig if a number is absent or contradicts another.
    """
    hidden, layers = config.whole("hidden_size"), config.whole("num_hidden_layers")
    heads = config.whole("num_attention_heads")
    return Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=config.kv_heads(heads),
        head_dim=config.head_dim(hidden, heads),
        vocab=config.whole("vocab_size"),
        context=config.whole("max_position_embeddings", default=context),
        tied=config.flag("tie_word_embeddings", default=tied),
        windows=windows or (None,) * layers,
    )


def layer_windows(
    config: Config, layers: int, window: int | None, is_local: Callable[[int], bool]
) -> tuple[int | None, ...]:
    """The reach of each layer: by `layer_types` if the config has it, else by the family's own rule `is_local`."""
    kinds = config.sequence("layer_types")
    if kinds is None:
        return tuple(window if is_local(layer) else None for layer in range(layers))
    if len(kinds) != layers:
        raise BadConfig(
            Message("model.layer_types_model_type_names", model_type=config.model_type, count=len(kinds), layers=layers)
        )
    return tuple(window if kind == "sliding_attention" else None for kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How the layers of a family differ from those of other families, apart from their shape."""

    qkv_bias: bool = False
    output_bias: bool = False
    fused_qkv: bool = False
    qk_norm: bool = False
    norms: tuple[str, ...] = ("attn_norm", "ffn_norm")
    norm_bias: bool = False
    head_bias: bool = False
    #: Gives the further vectors of a layer.
    extra_vectors: Callable[[int], Iterable[Tensor]] = lambda layer: ()


def build(
    config: Config,
    shape: Shape,
    *,
    ffn: int,
    ffn_tensors: Callable[[int], Iterable[Tensor]],
    style: Style | None = None,
) -> Architecture:
    """A decoder of this shape.

    `ffn` is the inner width that a token passes, and `ffn_tensors` gives the feed-forward tensors of a layer.
    """
    own = style or Style()

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", shape.vocab, shape.hidden)
        for layer in range(shape.layers):
            for name in own.norms:
                yield from blocks.norm(name, layer, shape.hidden, bias=own.norm_bias)
            yield from blocks.grouped_attention(
                layer,
                blocks.Attention(
                    hidden=shape.hidden,
                    heads=shape.heads,
                    kv_heads=shape.kv_heads,
                    head_dim=shape.head_dim,
                    qkv_bias=own.qkv_bias,
                    output_bias=own.output_bias,
                    fused=own.fused_qkv,
                ),
            )
            if own.qk_norm:
                yield blocks.vector("attn_q_norm", layer, shape.head_dim)
                yield blocks.vector("attn_k_norm", layer, shape.head_dim)
            yield from own.extra_vectors(layer)
            yield from ffn_tensors(layer)
        yield from blocks.norm("output_norm", None, shape.hidden, bias=own.norm_bias)
        if not shape.tied:
            yield from blocks.matrix("output", None, shape.vocab, shape.hidden, bias=own.head_bias)

    return Architecture(
        model_type=config.model_type,
        kind="decoder",
        hidden=shape.hidden,
        layers=shape.layers,
        vocab=shape.vocab,
        context=shape.context,
        tied=shape.tied,
        ffn=ffn,
        tensors=tuple(tensors()),
        attention=tuple(
            AttentionLayer(
                heads=shape.heads,
                key_dim=shape.head_dim,
                value_dim=shape.head_dim,
                cached=2 * shape.kv_heads * shape.head_dim,
                window=window,
            )
            for window in shape.windows
        ),
    )
