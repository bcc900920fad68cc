"""A decoder from what its config means: weight tensors layer by layer, and what each layer keeps for a token or a sequence.

The names of the tensors are llama.cpp's. Where the model type is in `meaning.toml` the count is exact; any other is counted
in the form that its keys describe, and says so. Sources of the forms: Vaswani et al. 2017; Shazeer 2019 and 2020
(multi-query, GLU); Ainslie et al. 2023 (grouped attention); DeepSeek-AI 2024 (latent attention, shared experts); Gu & Dao
2023, Dao & Gu 2024 (state space); Yang, Kautz & Hatamizadeh 2024 (gated delta nets); the models' code in
transformers 5.24.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import _blocks as blocks
from gpuledger.transform.sizing.families import mixers
from gpuledger.transform.sizing.families.meaning import LayerKind, Meaning, families, table
from gpuledger.transform.sizing.families.towers import of_parts
from gpuledger.transform.sizing.tensors import Architecture, Tensor

#: The longest context that may be asked for where a config states none. It is no fact about the model.
_NO_LIMIT = 2**20


def decoder(meaning: Meaning) -> Architecture:
    """The architecture that a config of text describes. Raises BadConfig if a number is absent or contradicts another."""
    _refuse(meaning)
    hidden = meaning.number("hidden")
    kinds = meaning.kinds(_layers(meaning))
    vocab = meaning.number("vocab")
    tied = meaning.config.flag("tie_word_embeddings", default=meaning.has("tied"))
    context = meaning.number("context", default=meaning.family.get("context") or meaning.no_limit("context", _NO_LIMIT))
    norm_bias = meaning.has("norm_bias")
    mixing = mixers.Mixers(meaning, hidden, len(kinds))
    feeding = _FeedForward(meaning, hidden)

    def tensors() -> Iterator[Tensor]:
        if "positions" in meaning.family:
            yield blocks.embedding("position_embd", context + meaning.family["positions"], hidden)
        if meaning.has("embedding_norm"):
            yield from blocks.norm("token_embd_norm", None, hidden, bias=norm_bias)
        yield blocks.embedding("token_embd", vocab, hidden)
        for layer, kind in enumerate(kinds):
            for name in _norms(meaning, kind):
                yield from blocks.norm(name, layer, hidden, bias=norm_bias)
            yield from mixing.tensors(layer, kind.mixer)
            yield from feeding.tensors(layer, kind.ffn)
            if (
                kind.ffn == "moe" and meaning.config.values.get("enable_moe_block") is True
            ):  # beside a dense feed-forward
                yield from feeding.tensors(layer, "dense")
        yield from _per_layer_input(meaning, hidden, len(kinds))
        yield from blocks.norm("output_norm", None, hidden, bias=norm_bias)
        if not tied:
            yield from blocks.matrix("output", None, vocab, hidden, bias=meaning.has("head_bias"))

    made = tuple(tensors())
    return Architecture(
        model_type=meaning.config.model_type,
        kind="decoder",
        hidden=hidden,
        layers=len(kinds),
        vocab=vocab,
        context=context,
        tied=tied,
        ffn=max((feeding.width(kind.ffn) for kind in kinds), default=0) or mixing.width,
        tensors=made,
        drafting=_drafting(meaning, made, hidden, vocab),
        attention=tuple(kept for layer, kind in enumerate(kinds) for kept in mixing.kept(layer, kind.mixer)),
        estimated=meaning.weights_note,
        bound=", ".join(meaning.cache_notes),
    )


def _drafting(meaning: Meaning, tensors: Sequence[Tensor], hidden: int, vocab: int) -> int:
    """The weights of a layer that guesses a token ahead: one like the last, behind a projection of two hidden vectors, in
    some families with copies of the embedding and the head. 0 if there is none, or several, which are smaller.

    Source: DeepSeek-AI 2024, "DeepSeek-V3", section 2.2; within 0.1% of what the files of 17 models hold.
    """
    if meaning.maybe("drafting") != 1:
        return 0
    last = max(tensor.layer for tensor in tensors if tensor.layer is not None)
    copies = 2 * vocab * hidden if meaning.has("draft_copies") else 0
    layer = sum(tensor.parameters for tensor in tensors if tensor.layer == last)
    return layer + (2 * hidden + 3) * hidden + copies


def _layers(meaning: Meaning) -> int:
    """The number of layers. A list of blocks may stand instead of it."""
    blocks_listed = meaning.listed("types")
    return meaning.number("layers", default=len(blocks_listed) if blocks_listed else None)


def _refuse(meaning: Meaning) -> None:
    """Raises BadConfig for a member of a family whose weights the family's differences do not cover."""
    rule = meaning.family.get("refused") or {"key": "", "usual": None}
    given = meaning.config.values.get(rule["key"])
    if given is not None and given != (meaning.number("hidden") if rule["usual"] == "hidden" else rule["usual"]):
        model_type = meaning.config.model_type
        raise BadConfig(
            "this {model_type} model has {key} {value!r}, unlike the others of its family; give the folder with its "
            "safetensors files", model_type=model_type, key=rule["key"], value=given,
        )  # fmt: skip


def _norms(meaning: Meaning, kind: LayerKind) -> tuple[str, ...]:
    if not kind.mixer or not kind.ffn:
        return ("attn_norm",) if kind.mixer or kind.ffn else ()
    if meaning.has("two_norms"):
        return ("attn_norm", "attn_norm_2")
    return tuple(meaning.family.get("norms", ("attn_norm", "ffn_norm")))


def _per_layer_input(meaning: Meaning, hidden: int, layers: int) -> Iterator[Tensor]:
    """The embeddings that every layer of a Gemma 4 has of its own: a table for lookups, and what leads to and from it."""
    width = meaning.maybe("per_layer")
    if width is None or not meaning.has("per_layer_input"):
        return
    yield blocks.embedding("per_layer_token_embd", meaning.number("per_layer_vocab"), layers * width)
    yield from blocks.matrix("per_layer_model_proj", None, layers * width, hidden)
    yield from blocks.norm("per_layer_proj_norm", None, width)
    for layer in range(layers):
        yield from blocks.matrix("inp_gate", layer, width, hidden)
        yield from blocks.matrix("proj", layer, hidden, width)
        yield from blocks.norm("post_norm", layer, hidden)


class _FeedForward:
    """The feed-forward of a layer: dense, or a mixture with shared experts."""

    def __init__(self, meaning: Meaning, hidden: int) -> None:
        self.meaning, self.hidden = meaning, hidden
        squared = "relu2" in (meaning.config.values.get("hidden_act"), meaning.config.values.get("mlp_hidden_act"))
        self.form = str(meaning.family.get("ffn", "plain" if squared else "gated"))
        widths = meaning.listed("inner")
        times = meaning.config.optional_whole("expansion_ratio") or 4
        self.widths = widths or []
        self.inner = max(widths) if widths else meaning.number("inner", default=times * hidden)
        self.dense_inner = meaning.maybe("dense_inner") or self.inner
        self.expert_inner = meaning.maybe("expert_inner") or self.inner
        self.experts, self.used = meaning.maybe("experts") or 0, meaning.maybe("used") or meaning.family.get("used", 0)
        if self.experts and not self.used:
            meaning.weights_note = meaning.weights_note or "num_experts_per_tok"
            self.used = self.experts
        if self.used > self.experts > 0:
            raise BadConfig("a token cannot use {used} of {experts} experts", used=self.used, experts=self.experts)
        shared = meaning.maybe("shared") or meaning.family.get("shared", 0)
        self.shared = meaning.maybe("shared_inner") or shared * self.expert_inner

    def width(self, kind: str) -> int:
        """The inner width that one token passes."""
        return self.used * self.expert_inner + self.shared if kind == "moe" else self.dense_inner if kind else 0

    def tensors(self, layer: int, kind: str) -> Iterator[Tensor]:
        """The tensors of one layer's feed-forward."""
        if kind == "dense":
            inner = self.widths[layer] if layer < len(self.widths) else self.dense_inner
            yield from self._matrices(layer, inner, "", bias=self.meaning.has("ffn_bias"))
        elif kind == "moe":
            yield from self._mixture(layer)

    def _matrices(self, layer: int, inner: int, suffix: str, *, bias: bool = False) -> Iterator[Tensor]:
        if self.form == "fused":  # gate and up are stored as one matrix, which llama.cpp calls ffn_up
            yield from blocks.matrix(f"ffn_up{suffix}", layer, 2 * inner, self.hidden)
            yield from blocks.matrix(f"ffn_down{suffix}", layer, self.hidden, inner)
        elif self.form == "plain":
            yield from blocks.plain_ffn(layer, self.hidden, inner, bias=bias, suffix=suffix)
            if self.meaning.has("trained_activation"):
                yield blocks.vector("ffn_act", layer, 2)
        else:
            yield from blocks.gated_ffn(layer, self.hidden, inner, bias=bias, suffix=suffix)

    def _mixture(self, layer: int) -> Iterator[Tensor]:
        meaning, hidden, inner = self.meaning, self.hidden, self.expert_inner
        latent = meaning.maybe("expert_latent")
        if latent:  # experts that work in a narrower space, with one way in and one way out for all of them
            yield from blocks.matrix("ffn_latent_down", layer, latent, hidden)
            yield from blocks.matrix("ffn_latent_up", layer, hidden, latent)
        yield from blocks.matrix("ffn_gate_inp", layer, self.experts, hidden, bias=meaning.has("expert_bias"))
        gated = self.form != "plain"
        for role, rows, cols in (
            ("gate", inner, latent or hidden),
            ("up", inner, latent or hidden),
            ("down", latent or hidden, inner),
        ):
            if role != "gate" or gated:
                yield Tensor(f"ffn_{role}_exps", layer, rows, cols, "matrix", self.experts, self.used)
                if meaning.has("expert_bias"):
                    yield Tensor(f"ffn_{role}_exps_bias", layer, 1, rows, "vector", self.experts, self.used)
        if self.shared:
            yield from self._matrices(layer, self.shared, "_shexp")
            if meaning.has("shared_gate"):
                yield from blocks.matrix("ffn_gate_inp_shexp", layer, 1, hidden)
        if meaning.has("routing_bias"):
            yield blocks.vector("exp_probs_b", layer, self.experts)


def _text_in(config: Config) -> Config | None:
    """The nested part that is the model of text, None where the config has none."""
    names = (name for name in table()["parts"]["text"] if isinstance(config.values.get(name), Mapping))
    return next((config.part(name) for name in names), None)


def _of_blocks(config: Config, blocks_of: list[Mapping[str, Any]]) -> Config:
    """The config of a model that a search for architectures thinned out: each attention and each feed-forward as a layer.

    Source: configuration_decilm.py and modeling_decilm.py of nvidia/Llama-3_3-Nemotron-Super-49B-v1: `n_heads_in_group`
    heads share a key-value head, the inner width is 2/3 × `ffn_mult` × hidden, up to a multiple of 256, and a part that is
    `no_op` is not there.
    """
    hidden, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
    layers: list[tuple[str, int, int]] = []
    for block in blocks_of:
        attention, feeding = block.get("attention") or {}, block.get("ffn") or {}
        if attention.get("n_heads_in_group") and not attention.get("no_op"):
            layers.append(("attention", heads // attention["n_heads_in_group"], 0))
        if feeding.get("ffn_mult") and not feeding.get("no_op"):
            layers.append(("-", 1, -(-int(2 * feeding["ffn_mult"] * hidden / 3) // 256) * 256))
    types, kv_heads, widths = (list(column) for column in zip(*layers, strict=True)) if layers else ([], [], [])
    own = {key: value for key, value in config.values.items() if key != "block_configs"}
    stated = {"layer_types": types, "num_key_value_heads": kv_heads, "intermediate_size": widths}
    return Config({**own, **stated, "num_hidden_layers": len(layers)}, config.model_type)


def read(config: Config) -> Architecture:
    """The model of text in a config, which may be nested, and the towers beside it."""
    blocks_of = config.values.get("block_configs")
    if isinstance(blocks_of, list) and all(isinstance(block, Mapping) for block in blocks_of):
        return replace(read(_of_blocks(config, blocks_of)), layers=len(blocks_of))
    text = _text_in(config)
    if text is not None and _text_in(text) is not None:  # a model that also speaks has its text two parts deep
        config, text = text, _text_in(text)
    own = str((text.values.get("model_type") if text else None) or config.model_type)
    family = families().get(own) or (families().get(config.model_type) if text else None)
    meaning = Meaning(text or config, family or {})
    if family is None or (text is not None and config.model_type not in table()["parts"]["exact"]):
        meaning.weights_note = "model_type"
    meaning.weights_note = meaning.weights_note or meaning.unread()
    if text is not None and "tie_word_embeddings" in config.values:  # what holds both parts decides
        meaning.config = Config({**text.values, "tie_word_embeddings": config.values["tie_word_embeddings"]}, own)
    architecture = decoder(meaning)
    extra = tuple(of_parts(config, architecture.hidden, meaning))
    return replace(architecture, model_type=config.model_type, extra=extra, estimated=meaning.weights_note)
