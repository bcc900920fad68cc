"""DeepSeek V2 and V3: multi-head latent attention, shared and routed experts, and dense first layers.

Keys and values are kept as one latent vector of `kv_lora_rank` and one rotary key of `qk_rope_head_dim` for all heads.
Source: DeepSeek-AI 2024 (DeepSeek-V2, section 2.1; DeepSeek-V3, section 2.1) and the models' published configs.
V3 has an extra layer that predicts a second token. Ordinary use does not load it, and it is not counted, as in DeepSeek's
own 671B.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor


def _latent_attention(config: Config, layer: int, hidden: int, heads: int) -> Iterator[Tensor]:
    rank, rope = config.whole("kv_lora_rank"), config.whole("qk_rope_head_dim")
    nope, value = config.whole("qk_nope_head_dim"), config.whole("v_head_dim")
    query_rank = config.optional_whole("q_lora_rank")
    if query_rank is None:
        yield from blocks.matrix("attn_q", layer, heads * (nope + rope), hidden)
    else:
        yield from blocks.matrix("attn_q_a", layer, query_rank, hidden)
        yield from blocks.norm("attn_q_a_norm", layer, query_rank)
        yield from blocks.matrix("attn_q_b", layer, heads * (nope + rope), query_rank)
    yield from blocks.matrix("attn_kv_a_mqa", layer, rank + rope, hidden)
    yield from blocks.norm("attn_kv_a_norm", layer, rank)
    yield from blocks.matrix("attn_kv_b", layer, heads * (nope + value), rank)
    yield from blocks.matrix("attn_output", layer, hidden, heads * value)


def _deepseek(config: Config, *, routing_bias: bool) -> Architecture:
    hidden, layers = config.whole("hidden_size"), config.whole("num_hidden_layers")
    heads, vocab = config.whole("num_attention_heads"), config.whole("vocab_size")
    rank, rope = config.whole("kv_lora_rank"), config.whole("qk_rope_head_dim")
    nope, value = config.whole("qk_nope_head_dim"), config.whole("v_head_dim")
    inner, expert_inner = config.whole("intermediate_size"), config.whole("moe_intermediate_size")
    experts, used = config.whole("n_routed_experts"), config.whole("num_experts_per_tok")
    shared = config.whole("n_shared_experts") * expert_inner
    dense = config.whole("first_k_dense_replace")
    tied = config.flag("tie_word_embeddings", default=False)

    def tensors() -> Iterator[Tensor]:
        yield blocks.embedding("token_embd", vocab, hidden)
        for layer in range(layers):
            yield from blocks.norm("attn_norm", layer, hidden)
            yield from _latent_attention(config, layer, hidden, heads)
            yield from blocks.norm("ffn_norm", layer, hidden)
            if layer < dense:
                yield from blocks.gated_ffn(layer, hidden, inner)
                continue
            yield from blocks.routed_experts(layer, hidden, expert_inner, experts, used)
            yield from blocks.gated_ffn(layer, hidden, shared, suffix="_shexp")
            if routing_bias:
                yield blocks.vector("exp_probs_b", layer, experts)
        yield from blocks.norm("output_norm", None, hidden)
        if not tied:
            yield from blocks.matrix("output", None, vocab, hidden)

    attention = AttentionLayer(
        heads=heads,
        key_dim=nope + rope,
        value_dim=value,
        cached=rank + rope,
        decode_key_dim=rank + rope,
        decode_value_dim=rank,
    )
    return Architecture(
        model_type=config.model_type,
        kind="decoder",
        hidden=hidden,
        layers=layers,
        vocab=vocab,
        context=config.whole("max_position_embeddings"),
        tied=tied,
        ffn=max(inner, used * expert_inner + shared),
        tensors=tuple(tensors()),
        attention=(attention,) * layers,
    )


def _v2(config: Config) -> Architecture:
    return _deepseek(config, routing_bias=False)


def _v3(config: Config) -> Architecture:
    # V3 balances its experts with a bias that is added to the routing scores.
    return _deepseek(config, routing_bias=True)


#: Kimi K2 has the shape of DeepSeek-V3, with more experts and fewer heads.
FAMILIES = {"deepseek_v2": _v2, "deepseek_v3": _v3, "kimi_k2": _v3}
