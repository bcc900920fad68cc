"""What mixes the tokens of a layer: attention (grouped or latent), a delta net, a state space or a short convolution.

Each gives its weight tensors and what it keeps: elements for each token, or a state for each sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families.meaning import Meaning, table
from gpuledger.transform.sizing.tensors import AttentionLayer, Tensor

#: Programs keep a state at 32 bits, because every token adds to it, and the inputs of a convolution at 16 bits.
_STATE_BYTES, _CONVOLUTION_BYTES = 4, 2


def _state(heads: int, key: int, value: int, elements: int, convolution: int) -> AttentionLayer:
    """What a layer with a state keeps, and the multiplications of a token with it (key and value dimension of each head)."""
    size = _STATE_BYTES * elements + _CONVOLUTION_BYTES * convolution
    return AttentionLayer(heads=heads, key_dim=key, value_dim=value, cached=0, window=1, state_bytes=size)


class Mixers:
    """The mixers of one model."""

    def __init__(self, meaning: Meaning, hidden: int, layers: int) -> None:
        self.meaning, self.hidden, self.layers = meaning, hidden, layers
        self.latent = meaning.maybe("latent")
        self.has_delta = meaning.maybe("delta_value_heads") is not None
        self.has_state = meaning.maybe("state") is not None
        self.width = meaning.maybe("state_inner") or (meaning.maybe("expand") or 2) * hidden
        shared = meaning.maybe("shared_cache") or 0
        #: The first layer that has no cache of its own: it reads the cache of an earlier layer.
        self.first_shared = layers - shared if shared < layers else layers
        self.heads: list[int] = []
        self.kv_heads: list[int] = []
        if meaning.maybe("heads") is None and meaning.listed("heads") is None and not meaning.family:
            meaning.cache_notes[table()["keys"]["heads"][0]] = None
            self.heads = self.kv_heads = [1] * layers  # one head as wide as the layer keeps at least as much
        elif not meaning.has("only_state"):
            self._read_heads(meaning, layers)

    def _read_heads(self, meaning: Meaning, layers: int) -> None:
        self.heads = meaning.each("heads", layers)
        self.kv_heads = meaning.each("kv_heads", layers, default=0)
        if meaning.has("one_kv_head") and not meaning.has("two_norms"):
            self.kv_heads = [1] * layers
        if not any(self.kv_heads):
            self.kv_heads = self.heads
        for heads, kv_heads in zip(self.heads, self.kv_heads, strict=True):
            if kv_heads and heads % kv_heads:
                raise BadConfig(
                    "{heads} heads of model_type {model_type!r} cannot share {kv_heads} key-value heads evenly",
                    heads=heads, model_type=meaning.config.model_type, kv_heads=kv_heads,
                )  # fmt: skip

    def _attention(self, layer: int, mixer: str) -> tuple[int, int, int, int]:
        """Heads, key-value heads, and the widths of a key and of a value in a layer."""
        ask, heads, kv_heads = self.meaning.maybe, self.heads[layer], self.kv_heads[layer]
        key = self._own_of_layer(layer).maybe("head") or ask("head")
        if mixer == "window":
            heads, kv_heads = ask("window_heads") or heads, ask("window_kv_heads") or kv_heads
            key = ask("window_head") or key
        else:
            key, kv_heads = ask("full_head") or key, ask("full_kv_heads") or kv_heads
        if key is None:
            if self.hidden % heads and self.latent is None:
                self.meaning.weights_note = self.meaning.weights_note or "head_dim"
            key = self.hidden // heads
        value = (ask("window_value") if mixer == "window" else None) or ask("value") or key
        return heads, kv_heads, key, value

    def _own_of_layer(self, layer: int) -> Meaning:
        """What a config states of one layer alone (`per_layer_config`)."""
        stated = self.meaning.config.values.get("per_layer_config")
        own = (stated.get(f"{layer:02}") or stated.get(str(layer))) if isinstance(stated, Mapping) else None
        return Meaning(Config(own if isinstance(own, Mapping) else {}, self.meaning.config.model_type), {})

    def kept(self, layer: int, mixer: str) -> Iterator[AttentionLayer]:
        """What a layer computes and keeps."""
        if mixer in ("full", "window"):
            yield self._kept_by_attention(layer, mixer)
        elif mixer in ("sparse", "heavy"):
            yield from self._compressed(layer, mixer)
        elif mixer == "conv":
            kernel = self.meaning.number("kernel")
            yield _state(1, kernel, 0, 0, self.hidden * kernel)
        elif mixer == "linear" and self.has_delta:
            keys, values, key, value, kernel = self._delta()
            mixed = 2 * keys * key + values * value
            yield _state(values, key * value, key * value, values * key * value, mixed * (kernel - 1))
        elif mixer == "linear" and self.has_state:
            heads, head, groups, state, kernel = self._state_space()
            if heads:
                yield _state(
                    heads,
                    head * state,
                    head * state,
                    heads * head * state,
                    (heads * head + 2 * groups * state) * (kernel - 1),
                )
            else:  # a token decays the state, adds to it and reads it
                yield _state(self.width, 2 * state, state, self.width * state, self.width * (kernel - 1))
        elif mixer == "linear":
            # Linear attention without numbers of its own keeps key × value for each head (Katharopoulos et al. 2020).
            heads, _, key, value = self._attention(layer, "full")
            yield _state(heads, key * value, key * value, heads * key * value, 0)

    def _kept_by_attention(self, layer: int, mixer: str) -> AttentionLayer:
        ask = self.meaning.maybe
        heads, kv_heads, key, value = self._attention(layer, mixer)
        window = ask("window") if mixer == "window" else None
        index = ask("index_head") or 0
        if self.latent is not None:
            rotary = ask("rotary") or 0
            key, value = (ask("plain_key") or key - rotary) + rotary, ask("latent_value") or value
            rank = self.latent + rotary
            return AttentionLayer(
                heads=heads, key_dim=key, value_dim=value, cached=rank + index, window=window, decode_key_dim=rank,
                decode_value_dim=self.latent,
            )  # fmt: skip
        cached = 0 if layer >= self.first_shared else kv_heads * (key + value) + index
        return AttentionLayer(heads=heads, key_dim=key, value_dim=value, cached=cached, window=window)

    def _compressed(self, layer: int, mixer: str) -> Iterator[AttentionLayer]:
        """A window whose keys are the values too, and behind it one entry for several tokens, with a key to choose it by."""
        rates = self.meaning.config.part("compress_rates") or self.meaning.config
        ratios = self.meaning.ratios(self.layers)
        name = f"{'compressed_sparse' if mixer == 'sparse' else 'heavily_compressed'}_attention"
        rate = ratios[layer] if ratios else rates.whole(name, default=1)
        heads, _, key, value = self._attention(layer, "window")
        index = (self.meaning.maybe("index_head") or 0) if mixer == "sparse" else 0
        window = self.meaning.maybe("window") or 1
        yield AttentionLayer(heads=heads, key_dim=key, value_dim=value, cached=key, window=window)
        if not rate:
            return
        yield AttentionLayer(
            heads=heads, key_dim=-(-key // rate), value_dim=-(-value // rate), cached=-(-(key + index) // rate)
        )

    def tensors(self, layer: int, mixer: str) -> Iterator[Tensor]:
        """The weight tensors of a layer's mixer."""
        if mixer in ("full", "window", "sparse", "heavy"):
            yield from self._latent_attention(layer) if self.latent is not None else self._grouped(layer, mixer)
        elif mixer == "conv":
            yield from blocks.matrix("shortconv_in", layer, 3 * self.hidden, self.hidden)
            yield Tensor("shortconv", layer, self.hidden, self.meaning.number("kernel"), "vector")
            yield from blocks.matrix("shortconv_out", layer, self.hidden, self.hidden)
        elif mixer == "linear" and self.has_delta:
            yield from self._delta_net(layer)
        elif mixer == "linear" and self.has_state:
            yield from self._state_tensors(layer)
        elif mixer == "linear":
            yield from self._grouped(layer, "full")

    def _grouped(self, layer: int, mixer: str) -> Iterator[Tensor]:
        meaning = self.meaning
        heads, kv_heads, key, value = self._attention(layer, mixer)
        queries = 2 * heads if meaning.has("query_gate") else heads  # the query matrix also holds a gate for the result
        bias = meaning.has("qkv_bias")
        if meaning.has("fused"):
            yield from blocks.matrix(
                "attn_qkv", layer, queries * key + kv_heads * (key + value), self.hidden, bias=bias
            )
        else:
            query_rank = meaning.maybe("query_latent")
            if query_rank is not None:
                yield from blocks.matrix("attn_q_a", layer, query_rank, self.hidden)
                yield from blocks.norm("attn_q_a_norm", layer, query_rank)
            yield from blocks.matrix(
                "attn_q_b" if query_rank else "attn_q", layer, queries * key, query_rank or self.hidden, bias=bias
            )
            if layer < self.first_shared:
                yield from blocks.matrix("attn_k", layer, kv_heads * key, self.hidden, bias=bias)
                # else keys are values
                if mixer not in ("sparse", "heavy") and (
                    mixer == "window" or not meaning.config.flag("attention_k_eq_v", default=False)
                ):
                    yield from blocks.matrix("attn_v", layer, kv_heads * value, self.hidden, bias=bias)
        groups, rank = meaning.maybe("output_groups"), meaning.maybe("output_latent")
        if groups and rank:  # groups of heads, each with a matrix into a narrow space
            yield from blocks.matrix("attn_output_a", layer, groups * rank, heads * value // groups)
        width = groups * rank if groups and rank else heads * value
        yield from blocks.matrix("attn_output", layer, self.hidden, width, bias=meaning.has("output_bias"))
        if meaning.has("qk_norm_switch", default=True) and "qk_norm" in meaning.family:
            times = {"head": (1, 1), "each head": (heads, kv_heads), "all heads": (heads, kv_heads)}[
                meaning.family["qk_norm"]
            ]
            yield blocks.vector("attn_q_norm", layer, times[0] * key)
            if layer < self.first_shared:
                yield blocks.vector("attn_k_norm", layer, times[1] * key)
        if meaning.has("head_gate"):
            yield from blocks.matrix("attn_gate", layer, heads, self.hidden)
        if meaning.has("sinks"):
            yield blocks.vector("attn_sinks", layer, heads)

    def _latent_attention(self, layer: int) -> Iterator[Tensor]:
        meaning, hidden, heads, rank = self.meaning, self.hidden, self.heads[layer], self.latent or 0
        rope, nope = meaning.maybe("rotary") or 0, meaning.number("plain_key")
        value, query_rank = meaning.number("latent_value"), meaning.maybe("query_latent")
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
        index_heads, index = meaning.maybe("index_heads"), meaning.maybe("index_head")
        if index_heads and index:  # chooses the tokens that a query is compared with
            yield from blocks.matrix("indexer.attn_q_b", layer, index_heads * index, query_rank or hidden)
            yield from blocks.matrix("indexer.attn_k", layer, index, hidden)
            yield from blocks.norm("indexer.k_norm", layer, index, bias=True)
            yield from blocks.matrix("indexer.proj", layer, index_heads, hidden)

    def _delta(self) -> tuple[int, int, int, int, int]:
        ask = self.meaning.number
        return ask("delta_key_heads"), ask("delta_value_heads"), ask("delta_key"), ask("delta_value"), ask("kernel", 1)

    def _delta_net(self, layer: int) -> Iterator[Tensor]:
        """Query, key, value and gate in one matrix, decay and strength of each head, a convolution, a norm, the output."""
        keys, values, key, value, kernel = self._delta()
        mixed = 2 * keys * key + values * value
        yield from blocks.matrix("ssm_in", layer, mixed + values * value, self.hidden)
        yield from blocks.matrix("ssm_ba", layer, 2 * values, self.hidden)
        yield Tensor("ssm_conv1d", layer, mixed, kernel, "vector")
        yield blocks.vector("ssm_a", layer, values)
        yield blocks.vector("ssm_dt_bias", layer, values)
        yield blocks.vector("ssm_norm", layer, value)
        yield from blocks.matrix("ssm_out", layer, self.hidden, values * value)

    def _state_space(self) -> tuple[int, int, int, int, int]:
        """Heads (0 in the first Mamba, which has none), their width, groups, the values of the state, and the kernel."""
        ask, heads = self.meaning.maybe, self.meaning.maybe("state_heads") or 0
        expanded = (ask("expand") or 2) * self.hidden
        head = ask("state_head") or (expanded // heads if heads else 0)
        return heads, head, ask("state_groups") or 1, self.meaning.number("state"), self.meaning.number("kernel", 4)

    def _state_tensors(self, layer: int) -> Iterator[Tensor]:
        heads, head, groups, state, kernel = self._state_space()
        inner = heads * head
        if not heads:
            yield from self._first_mamba(layer, state, kernel)
            return
        mixed = inner + 2 * groups * state
        yield from blocks.matrix("ssm_in", layer, inner + mixed + heads, self.hidden)
        yield Tensor("ssm_conv1d", layer, mixed, kernel, "vector")
        yield blocks.vector("ssm_conv1d_bias", layer, mixed)
        for name in ("ssm_dt_bias", "ssm_a", "ssm_d"):
            yield blocks.vector(name, layer, heads)
        yield blocks.vector("ssm_norm", layer, inner)
        yield from blocks.matrix("ssm_out", layer, self.hidden, inner)

    def _first_mamba(self, layer: int, state: int, kernel: int) -> Iterator[Tensor]:
        inner = self.width
        rank = self.meaning.maybe("state_rank") or -(-self.hidden // 16)
        yield from blocks.matrix("ssm_in", layer, 2 * inner, self.hidden)
        yield Tensor("ssm_conv1d", layer, inner, kernel, "vector")
        yield blocks.vector("ssm_conv1d_bias", layer, inner)
        yield from blocks.matrix("ssm_x", layer, rank + 2 * state, inner)
        yield from blocks.matrix("ssm_dt", layer, inner, rank, bias=True)
        yield Tensor("ssm_a", layer, inner, state, "vector")
        yield blocks.vector("ssm_d", layer, inner)
        yield from blocks.matrix("ssm_out", layer, self.hidden, inner)
