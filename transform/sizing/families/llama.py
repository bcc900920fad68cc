"""Llama 1 to 3, Mistral, Granite 3 and SmolLM 3: RMSNorm, grouped attention, SwiGLU, and biases only if the config says so.

Source: Touvron et al. 2023 (LLaMA, Llama 2), Dubey et al. 2024 (Llama 3), Jiang et al. 2023 (Mistral 7B); Hugging Face
transformers, models granite (has scales that Llama does not have; they are not weights) and smollm3 (some layers have no
positions).
"""

from __future__ import annotations

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import _decoder as decoder
from gpuledger.transform.sizing.tensors import Architecture


def _llama(config: Config) -> Architecture:
    # Configs of the first Llama have max_sequence_length or no length at all. It was trained on 2,048 tokens.
    shape = decoder.read_shape(config, tied=False, context=config.whole("max_sequence_length", default=2048))
    inner, bias = config.whole("intermediate_size"), config.flag("mlp_bias", default=False)
    attention_bias = config.flag("attention_bias", default=False)
    return decoder.build(
        config,
        shape,
        ffn=inner,
        ffn_tensors=lambda layer: blocks.gated_ffn(layer, shape.hidden, inner, bias=bias),
        style=decoder.Style(qkv_bias=attention_bias, output_bias=attention_bias),
    )


def _mistral(config: Config) -> Architecture:
    window = config.optional_whole("sliding_window")
    shape = decoder.read_shape(config, tied=False, windows=(window,) * config.whole("num_hidden_layers"))
    inner = config.whole("intermediate_size")
    return decoder.build(
        config, shape, ffn=inner, ffn_tensors=lambda layer: blocks.gated_ffn(layer, shape.hidden, inner)
    )


def _mixtral(config: Config) -> Architecture:
    window = config.optional_whole("sliding_window")
    shape = decoder.read_shape(config, tied=False, windows=(window,) * config.whole("num_hidden_layers"))
    inner = config.whole("intermediate_size")
    experts, used = config.whole("num_local_experts"), config.whole("num_experts_per_tok")
    return decoder.build(
        config,
        shape,
        ffn=used * inner,
        ffn_tensors=lambda layer: blocks.routed_experts(layer, shape.hidden, inner, experts, used),
    )


def _smollm3(config: Config) -> Architecture:
    # The configs do not mention tied embeddings, because these are the family's default.
    return _llama(Config({"tie_word_embeddings": True, **config.values}, config.model_type))


FAMILIES = {"llama": _llama, "granite": _llama, "smollm3": _smollm3, "mistral": _mistral, "mixtral": _mixtral}
