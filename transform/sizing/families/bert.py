"""Encoders: BERT, RoBERTa, XLM-RoBERTa, DistilBERT, and the CLIP text encoder of diffusion models.

BERT and both RoBERTas are counted as the bare model with its pooler; DistilBERT has no pooler. Heads for a task (masked
words, classification) are not counted, as in the published 110M and 125M.
Source: Devlin et al. 2018; Liu et al. 2019; Radford et al. 2021; Hugging Face transformers, models bert, roberta, clip.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor


def read(config: Config) -> Architecture:
    """DistilBERT has other keys in its config, and neither token types nor a pooler. CLIP has a norm at the end instead."""
    hidden, layers = config.whole("hidden_size", "dim"), config.whole("num_hidden_layers", "n_layers")
    heads, inner = config.whole("num_attention_heads", "n_heads"), config.whole("intermediate_size", "hidden_dim")
    head_dim, positions, vocab = (
        config.head_dim(hidden, heads),
        config.whole("max_position_embeddings"),
        config.whole("vocab_size"),
    )
    is_clip, is_bert = config.model_type == "clip_text_model", config.model_type in ("bert", "roberta", "xlm-roberta")

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", vocab, hidden)
        yield blocks.embedding("position_embd", positions, hidden)
        if is_bert:
            yield blocks.embedding("token_types", config.whole("type_vocab_size"), hidden)
        if not is_clip:
            yield from blocks.norm("token_embd_norm", None, hidden, bias=True)
        for layer in range(layers):
            yield from blocks.grouped_attention(
                layer,
                blocks.Attention(
                    hidden=hidden, heads=heads, kv_heads=heads, head_dim=head_dim, qkv_bias=True, output_bias=True
                ),
            )
            yield from blocks.norm("attn_output_norm", layer, hidden, bias=True)
            yield from blocks.plain_ffn(layer, hidden, inner, bias=True)
            yield from blocks.norm("layer_output_norm", layer, hidden, bias=True)
        if is_bert:
            yield from blocks.matrix("pooler", None, hidden, hidden, bias=True)
        if is_clip:
            yield from blocks.norm("final_norm", None, hidden, bias=True)
        if "CLIPTextModelWithProjection" in (config.sequence("architectures") or ()):
            yield from blocks.matrix("text_projection", None, config.whole("projection_dim"), hidden)

    return Architecture(
        model_type=config.model_type,
        kind="encoder",
        hidden=hidden,
        layers=layers,
        vocab=vocab,
        # RoBERTa counts positions from 2: its 514 rows hold 512 tokens.
        context=positions - (2 if "roberta" in config.model_type else 0),
        # There is no output projection over the vocabulary that could be tied to the embedding.
        tied=False,
        ffn=inner,
        tensors=tuple(tensors()),
        attention=(AttentionLayer(heads=heads, key_dim=head_dim, value_dim=head_dim, cached=0),) * layers,
    )
