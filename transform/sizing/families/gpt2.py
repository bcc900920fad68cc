"""The older decoders with LayerNorm and a plain feed-forward: GPT-2, OPT, BLOOM, GPT-NeoX (Pythia), GPT-J and MPT.

Source: Radford et al. 2019; Zhang et al. 2022 (OPT); BigScience 2022 (BLOOM); Black et al. 2022 (GPT-NeoX-20B); Wang &
Komatsuzaki 2021 (GPT-J); MosaicML 2023 (MPT).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _shape(config: Config, *, context: int, tied: bool) -> decoder.Shape:
    hidden, layers = config.whole("n_embd", "hidden_size"), config.whole("n_layer", "num_hidden_layers")
    heads = config.whole("n_head", "num_attention_heads")
    return decoder.Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_dim=config.head_dim(hidden, heads),
        vocab=config.whole("vocab_size"),
        context=context,
        tied=config.flag("tie_word_embeddings", default=tied),
        windows=(None,) * layers,
    )


def _build(config: Config, shape: decoder.Shape, inner: int, *, fused: bool, added: Iterable[Tensor]) -> Architecture:
    architecture = decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, shape.hidden, inner, bias=True),
        style=decoder.Style(qkv_bias=True, output_bias=True, fused_qkv=fused, norm_bias=True),
    )
    return dataclasses.replace(architecture, tensors=(*added, *architecture.tensors))


def _gpt2(config: Config) -> Architecture:
    shape = _shape(config, context=config.whole("n_positions", "n_ctx", default=1024), tied=True)
    inner = config.whole("n_inner", default=4 * shape.hidden)
    positions = blocks.embedding("position_embd", shape.context, shape.hidden)
    return _build(config, shape, inner, fused=True, added=(positions,))


def _opt(config: Config) -> Architecture:
    shape = _shape(config, context=config.whole("max_position_embeddings"), tied=True)
    if config.whole("word_embed_proj_dim", default=shape.hidden) != shape.hidden:
        raise BadConfig(Message("model.opt_model_projects_embeddings_norms"))
    # Positions start at 2, so the table has two rows more than the context.
    positions = blocks.embedding("position_embd", shape.context + 2, shape.hidden)
    return _build(config, shape, config.whole("ffn_dim"), fused=False, added=(positions,))


def _bloom(config: Config) -> Architecture:
    # ALiBi needs no table of positions. The models were trained on 2,048 tokens.
    shape = _shape(config, context=config.whole("seq_length", default=2048), tied=True)
    embedding_norm = blocks.norm("token_embd_norm", None, shape.hidden, bias=True)
    return _build(config, shape, 4 * shape.hidden, fused=True, added=embedding_norm)


def _gpt_neox(config: Config) -> Architecture:
    shape = _shape(config, context=config.whole("max_position_embeddings"), tied=False)
    return _build(config, shape, config.whole("intermediate_size"), fused=True, added=())


def _gptj(config: Config) -> Architecture:
    # Attention and feed-forward share one norm. Only the feed-forward and the output have biases.
    shape = _shape(config, context=config.whole("n_positions", default=2048), tied=False)
    inner = config.whole("n_inner", default=4 * shape.hidden)
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, shape.hidden, inner, bias=True),
        style=decoder.Style(norms=("attn_norm",), norm_bias=True, head_bias=True),
    )


def _mpt(config: Config) -> Architecture:
    hidden, layers, heads = config.whole("d_model"), config.whole("n_layers"), config.whole("n_heads")
    attention = config.part("attn_config")
    if not config.flag("no_bias", default=True) or (attention is not None and attention.flag("qk_ln", default=False)):
        raise BadConfig(Message("model.mpt_model_biases_norms_queries"))
    shape = decoder.Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=heads,
        head_dim=config.head_dim(hidden, heads),
        vocab=config.whole("vocab_size"),
        context=config.whole("max_seq_len", default=2048),
        tied=True,
        windows=(None,) * layers,
    )
    inner = config.whole("expansion_ratio", default=4) * hidden
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.plain_ffn(layer, hidden, inner, bias=False),
        style=decoder.Style(fused_qkv=True),
    )


FAMILIES = {"gpt2": _gpt2, "opt": _opt, "bloom": _bloom, "gpt_neox": _gpt_neox, "gptj": _gptj, "mpt": _mpt}
