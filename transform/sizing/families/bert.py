"""Encoders: BERT, RoBERTa, XLM-RoBERTa, DistilBERT, and the CLIP text encoder of diffusion models.

BERT and both RoBERTas are counted as the bare model with its pooler; DistilBERT has no pooler. Heads for a task (masked
words, classification) are not counted, as in the published 110M and 125M.
Source: Devlin et al. 2018; Liu et al. 2019; Radford et al. 2021; Hugging Face transformers, models bert, roberta, clip.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, ArchitectureKind, AttentionLayer, Tensor


def _layer(layer: int, hidden: int, heads: int, head_dim: int, inner: int) -> Iterator[Tensor]:
    yield from blocks.grouped_attention(
        layer,
        blocks.Attention(
            hidden=hidden, heads=heads, kv_heads=heads, head_dim=head_dim, qkv_bias=True, output_bias=True
        ),
    )
    yield from blocks.norm("attn_output_norm", layer, hidden, bias=True)
    yield from blocks.plain_ffn(layer, hidden, inner, bias=True)
    yield from blocks.norm("layer_output_norm", layer, hidden, bias=True)


def _encoder(
    config: Config,
    *,
    context: int,
    first: tuple[Tensor, ...],
    last: tuple[Tensor, ...],
    kind: ArchitectureKind = "encoder",
) -> Architecture:
    hidden, layers = config.whole("hidden_size"), config.whole("num_hidden_layers")
    heads, inner = config.whole("num_attention_heads"), config.whole("intermediate_size")
    head_dim = config.head_dim(hidden, heads)
    body = tuple(tensor for layer in range(layers) for tensor in _layer(layer, hidden, heads, head_dim, inner))
    return Architecture(
        model_type=config.model_type,
        kind=kind,
        hidden=hidden,
        layers=layers,
        vocab=config.whole("vocab_size"),
        context=context,
        # There is no output projection over the vocabulary that could be tied to the embedding.
        tied=False,
        ffn=inner,
        tensors=(*first, *body, *last),
        attention=(AttentionLayer(heads=heads, key_dim=head_dim, value_dim=head_dim, cached=0),) * layers,
    )


def _bert_like(config: Config, *, reserved_positions: int) -> Architecture:
    hidden, positions = config.whole("hidden_size"), config.whole("max_position_embeddings")
    first = (
        blocks.embedding("token_embd", config.whole("vocab_size"), hidden),
        blocks.embedding("position_embd", positions, hidden),
        blocks.embedding("token_types", config.whole("type_vocab_size"), hidden),
        *blocks.norm("token_embd_norm", None, hidden, bias=True),
    )
    pooler = tuple(blocks.matrix("pooler", None, hidden, hidden, bias=True))
    return _encoder(config, context=positions - reserved_positions, first=first, last=pooler)


def _bert(config: Config) -> Architecture:
    return _bert_like(config, reserved_positions=0)


def _roberta(config: Config) -> Architecture:
    # RoBERTa counts positions from 2: its 514 rows hold 512 tokens.
    return _bert_like(config, reserved_positions=2)


def _distilbert(config: Config) -> Architecture:
    """Has BERT's layers, with other keys in its config, and neither token types nor a pooler."""
    own_keys = {
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
    }
    numbers = {name: config.whole(name, own_key) for name, own_key in own_keys.items()}
    config = Config({**config.values, **numbers}, config.model_type)
    hidden, positions = numbers["hidden_size"], config.whole("max_position_embeddings")
    first = (
        blocks.embedding("token_embd", config.whole("vocab_size"), hidden),
        blocks.embedding("position_embd", positions, hidden),
        *blocks.norm("token_embd_norm", None, hidden, bias=True),
    )
    return _encoder(config, context=positions, first=first, last=())


def _clip_text(config: Config) -> Architecture:
    hidden, positions = config.whole("hidden_size"), config.whole("max_position_embeddings")
    first = (
        blocks.embedding("token_embd", config.whole("vocab_size"), hidden),
        blocks.embedding("position_embd", positions, hidden),
    )
    last = tuple(blocks.norm("final_norm", None, hidden, bias=True))
    if "CLIPTextModelWithProjection" in (config.sequence("architectures") or ()):
        last += tuple(blocks.matrix("text_projection", None, config.whole("projection_dim"), hidden))
    return _encoder(config, context=positions, first=first, last=last)


FAMILIES = {
    "bert": _bert,
    "roberta": _roberta,
    "xlm-roberta": _roberta,
    "distilbert": _distilbert,
    "clip_text_model": _clip_text,
}
