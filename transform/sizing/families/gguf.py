"""A model as a GGUF file lists its tensors (see files/gguf_file.py), so that its weights are exact whatever its family.

What its layers keep follows from the keys of the head or of the config, and from the tensors that each layer has.
"""

from __future__ import annotations

from gpuledger.transform.sizing.config import Config
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families.meaning import Meaning, families
from gpuledger.transform.sizing.families.mixers import Mixers
from gpuledger.transform.sizing.tensors import Architecture, AttentionLayer, Tensor, tensors_of


def read(config: Config) -> Architecture:
    """Weights by the list of tensors, what is kept by the keys. Raises BadConfig."""
    family = families().get(str(config.values.get("architecture")).replace("-", "_"), {})
    meaning = Meaning(config, family)
    hidden, layers = meaning.number("hidden"), meaning.number("layers")
    tensors = tensors_of(config, meaning.maybe("used") or 1)
    table = next((tensor for tensor in tensors if tensor.role == "token_embd"), None)
    if table is None:
        raise BadConfig("a model of model_type 'gguf' needs its token_embd among the tensors")
    inner = max(
        (t.rows * t.used_experts for t in tensors if t.role.startswith(("ffn_up", "ffn_gate_exps"))), default=hidden
    )
    attention = tuple(_kept(meaning, hidden, layers, tensors))
    return Architecture(
        model_type=config.model_type,
        kind="decoder",
        hidden=hidden,
        layers=layers,
        vocab=table.rows,
        context=meaning.number("context"),
        tied="output" not in {tensor.role for tensor in tensors},
        ffn=inner,
        tensors=tensors,
        attention=attention,
        bound=", ".join(meaning.cache_notes),
        stored_as=config.text("stored_as", default="") if all(tensor.stored_bits for tensor in tensors) else "",
    )


def _kept(meaning: Meaning, hidden: int, layers: int, tensors: tuple[Tensor, ...]) -> list[AttentionLayer]:
    """What each layer keeps. Its tensors say whether it has attention, a state, or both."""
    roles: dict[int, set[str]] = {}
    for tensor in tensors:
        if tensor.layer is not None:
            roles.setdefault(tensor.layer, set()).add(tensor.role)
    attends = {layer for layer, has in roles.items() if any(r.startswith(("attn_q", "attn_k", "attn_v")) for r in has)}
    if not attends:
        meaning = Meaning(meaning.config, {**meaning.family, "only_state": True})
    mixing = Mixers(meaning, hidden, layers)
    kept: list[AttentionLayer] = []
    for layer in range(layers):
        has = roles.get(layer, set())
        if any(role.startswith("shortconv") for role in has):
            kept += mixing.kept(layer, "conv")
        elif any(role.startswith(("ssm_", "time_mix")) for role in has):
            kept += _state(meaning, hidden)
            if "ssm_beta_alpha" in has or "ssm_beta" in has or "ssm_alpha" in has:
                continue  # a delta net has a query, a key and a value of its own, and no cache
        if layer in attends:
            kept += mixing.kept(layer, "window" if meaning.is_local(layer, layers) else "full")
    return kept


def _state(meaning: Meaning, hidden: int) -> list[AttentionLayer]:
    """The state of a layer by the numbers of a GGUF head, which are alike for Mamba, Mamba-2 and delta nets."""
    ask, values = meaning.maybe, meaning.config.values
    wkv, kda = meaning.config.optional_whole(".wkv.head_size"), meaning.config.optional_whole(".kda.head_dim")
    inner, state = ask("gguf_inner") or hidden, wkv or kda or ask("state") or 0
    if kda:
        inner = kda * meaning.each("heads", 1)[0]
    if not state:
        meaning.cache_notes[".ssm.state_size"] = None
    groups = (ask("state_groups") or 0) if values.get(".ssm.group_count") else 0
    convolution = (inner + 2 * groups * state) * ((ask("kernel") or 1) - 1) if not wkv else 2 * hidden
    size = 4 * inner * state + 2 * convolution
    heads = max(1, inner // (state or 1))
    return [
        AttentionLayer(
            heads=heads, key_dim=state * state, value_dim=state * state, cached=0, window=1, state_bytes=size
        )
    ]
