"""Mamba: no attention, but a state of fixed size for each sequence.

For each of its inner channels a layer keeps `state_size` values of the state, and the last inputs of its convolution.
Source: Gu & Dao 2023, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces"; Zuo et al. 2024 (Falcon Mamba);
Hugging Face transformers, models mamba and falcon_mamba. A state does not limit
the length of a sequence, so `context` is the length that a model was trained with.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor

#: Programs keep the state at 32 bits, because every token adds to it, and the convolution's inputs at 16 bits.
_STATE_BYTES, _CONVOLUTION_BYTES = 4, 2


def _mamba(config: Config) -> Architecture:
    hidden, layers, vocab = config.whole("hidden_size"), config.whole("num_hidden_layers"), config.whole("vocab_size")
    inner, state = config.whole("intermediate_size"), config.whole("state_size")
    rank, kernel = config.whole("time_step_rank"), config.whole("conv_kernel")
    tied = config.flag("tie_word_embeddings", default=True)

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", vocab, hidden)
        for layer in range(layers):
            yield from blocks.norm("attn_norm", layer, hidden)
            yield from blocks.matrix("ssm_in", layer, 2 * inner, hidden)
            yield Tensor("ssm_conv1d", layer, inner, kernel, "vector")
            yield blocks.vector("ssm_conv1d_bias", layer, inner)
            yield from blocks.matrix("ssm_x", layer, rank + 2 * state, inner)
            yield from blocks.matrix("ssm_dt", layer, inner, rank, bias=True)
            yield Tensor("ssm_a", layer, inner, state, "vector")
            yield blocks.vector("ssm_d", layer, inner)
            yield from blocks.matrix("ssm_out", layer, hidden, inner)
        yield from blocks.norm("output_norm", None, hidden)
        if not tied:
            yield from blocks.matrix("output", None, vocab, hidden)

    # A token decays the state, adds to it and reads it. The key and value widths give the number of these multiplications.
    state_layer = AttentionLayer(
        heads=inner, key_dim=2 * state, value_dim=state, cached=0, window=1,
        state_bytes=_STATE_BYTES * inner * state + _CONVOLUTION_BYTES * inner * (kernel - 1),
    )  # fmt: skip
    return Architecture(
        model_type=config.model_type,
        kind="decoder",
        hidden=hidden,
        layers=layers,
        vocab=vocab,
        context=config.whole("max_position_embeddings"),
        tied=tied,
        ffn=inner,
        tensors=tuple(tensors()),
        attention=(state_layer,) * layers,
    )


FAMILIES = {"mamba": _mamba, "falcon_mamba": _mamba}
