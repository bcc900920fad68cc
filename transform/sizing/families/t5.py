"""T5 and its gated version 1.1 (Flan-T5, the text encoder of Stable Diffusion 3 and FLUX).

Attention has no biases, and a width of its own (heads × d_kv). One layer of each stack holds the relative position table.
Source: Raffel et al. 2019; Hugging Face transformers, model t5.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor


def _stack(config: Config, prefix: str, layers: int, *, cross: bool) -> Iterator[Tensor]:
    hidden, inner = config.whole("d_model"), config.whole("d_ff")
    heads, head_dim = config.whole("num_heads"), config.whole("d_kv")
    gated = config.text("feed_forward_proj", default="relu").startswith("gated")
    attention_parts = ("attn", "cross_attn") if cross else ("attn",)
    yield blocks.embedding(f"{prefix}.attn_rel_b", config.whole("relative_attention_num_buckets", default=32), heads)
    for layer in range(layers):
        for part in attention_parts:
            yield from blocks.norm(f"{prefix}.{part}_norm", layer, hidden)
            for projection in "qkv":
                yield from blocks.matrix(f"{prefix}.{part}_{projection}", layer, heads * head_dim, hidden)
            yield from blocks.matrix(f"{prefix}.{part}_output", layer, hidden, heads * head_dim)
        yield from blocks.norm(f"{prefix}.ffn_norm", layer, hidden)
        if gated:
            yield from blocks.gated_ffn(layer, hidden, inner)
        else:
            yield from blocks.plain_ffn(layer, hidden, inner, bias=False)
    yield from blocks.norm(f"{prefix}.output_norm", None, hidden)


def read(config: Config) -> Architecture:
    """T5 and mT5, whole or the encoder alone. Raises BadConfig."""
    hidden, layers, vocab = config.whole("d_model"), config.whole("num_layers"), config.whole("vocab_size")
    heads, head_dim = config.whole("num_heads"), config.whole("d_kv")
    encoder_only = "T5EncoderModel" in (config.sequence("architectures") or ())
    tied = config.flag("tie_word_embeddings", default=True)
    decoder_layers = 0 if encoder_only else config.whole("num_decoder_layers", default=layers)

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", vocab, hidden)
        yield from _stack(config, "enc", layers, cross=False)
        if decoder_layers:
            yield from _stack(config, "dec", decoder_layers, cross=True)
            if not tied:
                yield from blocks.matrix("output", None, vocab, hidden)

    return Architecture(
        model_type=config.model_type,
        kind="encoder" if encoder_only else "encoder_decoder",
        hidden=hidden,
        layers=layers + decoder_layers,
        vocab=vocab,
        context=config.whole("n_positions", default=512),
        tied=tied and not encoder_only,
        ffn=config.whole("d_ff"),
        tensors=tuple(tensors()),
        # Each layer of a decoder keeps the keys and values of the text that it writes, and of the text that was read.
        attention=(AttentionLayer(heads=heads, key_dim=head_dim, value_dim=head_dim, cached=0),) * layers
        + (AttentionLayer(heads=heads, key_dim=head_dim, value_dim=head_dim, cached=2 * heads * head_dim),)
        * (2 * decoder_layers),
    )
