"""gpt-oss: biases on every projection and expert, a learned sink for each head, and alternating local and full attention.

Source: OpenAI 2025, gpt-oss-120b & gpt-oss-20b model card; Hugging Face transformers, model gpt_oss.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture, Tensor


def _gpt_oss(config: Config) -> Architecture:
    layers = config.whole("num_hidden_layers")
    window = config.optional_whole("sliding_window")
    windows = decoder.layer_windows(config, layers, window, lambda layer: layer % 2 == 0)
    shape = decoder.read_shape(config, tied=False, windows=windows)
    inner, experts = config.whole("intermediate_size"), config.whole("num_local_experts")
    used = config.whole("num_experts_per_tok", "experts_per_token")

    def expert_bias(role: str, layer: int, width: int) -> Tensor:
        return Tensor(role, layer, 1, width, "vector", experts, used)

    def ffn_tensors(layer: int) -> Iterator[Tensor]:
        yield from blocks.routed_experts(layer, shape.hidden, inner, experts, used)
        yield blocks.vector("ffn_gate_inp_bias", layer, experts)
        yield expert_bias("ffn_gate_exps_bias", layer, inner)
        yield expert_bias("ffn_up_exps_bias", layer, inner)
        yield expert_bias("ffn_down_exps_bias", layer, shape.hidden)

    return decoder.build(
        config,
        shape,
        ffn=used * inner,
        ffn_tensors=ffn_tensors,
        style=decoder.Style(
            qkv_bias=True,
            output_bias=True,
            extra_vectors=lambda layer: (blocks.vector("attn_sinks", layer, shape.heads),),
        ),
    )


FAMILIES = {"gpt_oss": _gpt_oss}
