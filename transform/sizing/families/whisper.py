"""Whisper: an encoder of 30 seconds of sound, and a decoder that writes the spoken text.

The decoder keeps keys and values for each of its tokens, and for all positions of the encoder once for each sequence.
Source: Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision"; transformers, model
whisper.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor

#: The width of the two convolutions over the spectrogram.
_KERNEL = 3


def _attention(role: str, layer: int, hidden: int) -> Iterator[Tensor]:
    """One attention with its norm. Keys have no bias."""
    yield from blocks.norm(f"{role}_norm", layer, hidden, bias=True)
    yield from blocks.matrix(f"{role}_q", layer, hidden, hidden, bias=True)
    yield from blocks.matrix(f"{role}_k", layer, hidden, hidden)
    yield from blocks.matrix(f"{role}_v", layer, hidden, hidden, bias=True)
    yield from blocks.matrix(f"{role}_output", layer, hidden, hidden, bias=True)


def read(config: Config) -> Architecture:
    """Both halves, and the spectrogram's convolutions. Raises BadConfig."""
    hidden, vocab = config.whole("d_model"), config.whole("vocab_size")
    encoder, decoder = config.whole("encoder_layers"), config.whole("decoder_layers")
    heads = config.whole("decoder_attention_heads")
    positions, context = config.whole("max_source_positions"), config.whole("max_target_positions")
    width = config.head_dim(hidden, heads)

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", vocab, hidden)
        yield from blocks.matrix("enc.conv1", None, hidden, _KERNEL * config.whole("num_mel_bins"), bias=True)
        yield from blocks.matrix("enc.conv2", None, hidden, _KERNEL * hidden, bias=True)
        yield blocks.embedding("enc.position_embd", positions, hidden)
        yield blocks.embedding("dec.position_embd", context, hidden)
        for layer in range(encoder):
            yield from _attention("enc.attn", layer, hidden)
            yield from blocks.norm("enc.ffn_norm", layer, hidden, bias=True)
            yield from blocks.plain_ffn(layer, hidden, config.whole("encoder_ffn_dim"), bias=True)
        for layer in range(decoder):
            yield from _attention("dec.attn", layer, hidden)
            yield from _attention("dec.cross_attn", layer, hidden)
            yield from blocks.norm("dec.ffn_norm", layer, hidden, bias=True)
            yield from blocks.plain_ffn(layer, hidden, config.whole("decoder_ffn_dim"), bias=True)
        yield from blocks.norm("enc.output_norm", None, hidden, bias=True)
        yield from blocks.norm("dec.output_norm", None, hidden, bias=True)

    self_attention = AttentionLayer(heads=heads, key_dim=width, value_dim=width, cached=2 * hidden)
    cross_attention = AttentionLayer(
        heads=heads, key_dim=width, value_dim=width, cached=0, window=1, state_bytes=2 * 2 * hidden * positions
    )  # fmt: skip
    return Architecture(
        model_type=config.model_type,
        kind="encoder_decoder",
        hidden=hidden,
        layers=encoder + decoder,
        vocab=vocab,
        context=context,
        tied=True,
        ffn=config.whole("encoder_ffn_dim"),
        tensors=tuple(tensors()),
        attention=(self_attention,) * decoder + (cross_attention,) * decoder,
    )
