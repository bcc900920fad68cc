"""Recomputes the figures of the second source document from the shape of its model."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gpuledger.transform.claims.published_methods import park_memory_gb, park_transformer_flops
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import prefill_flops
from gpuledger.transform.sizing.tuning import OPTIMIZER_STATE_BYTES


def recompute(inputs: Mapping[str, Any]) -> dict[str, Fraction | None]:
    """The recomputed value of every claim, by claim id."""
    architecture = catalogue.architecture(inputs["model"])
    tokens, billions = inputs["tokens"], inputs["parameters_billion"]
    attention = architecture.attention[0]
    hidden, layers, heads, inner = architecture.hidden, architecture.layers, attention.heads, architecture.ffn
    published = park_transformer_flops(tokens=tokens, hidden=hidden, inner=inner, layers=layers, heads=heads)
    # What the document prints for its simplified formula. The formula beside it has further factors.
    simplified = layers**2 * hidden**2 * 4 * heads
    values = {
        "hidden": hidden,
        "layers": layers,
        "heads": heads,
        # For each token the keys and values of all heads are kept, and each has key_dim elements.
        "kv-heads": Fraction(attention.cached, 2 * attention.key_dim),
        "ffn-inner": inner,
        "vocabulary": architecture.vocab,
        "context": architecture.context,
        "total-flops": published.total,
        "flops-per-token": published.per_token,
        "exact-flops": prefill_flops(architecture, tokens, causal=False, logits="all").total,
        "simplified-flops": simplified,
        "simplified-flops-per-token": Fraction(simplified, tokens),
        # As printed: layers² · H² · 4D · heads · layers.
        "simplified-formula-as-printed": layers**2 * hidden**2 * 4 * inner * heads * layers,
        # H² · 4D · heads · layers
        "simplified-formula-per-token-as-printed": hidden**2 * 4 * inner * heads * layers,
        # layers × [(2 L² H² + 4 L H D) × heads]
        "value-1-equation-as-printed": layers * (2 * tokens**2 * hidden**2 + 4 * tokens * hidden * inner) * heads,
        # layers × [(2 L² H + L H²) × heads + 4 L H D]
        "concluding-formula-as-printed": layers
        * ((2 * tokens**2 * hidden + tokens * hidden**2) * heads + 4 * tokens * hidden * inner),
        "value-4": Fraction(simplified, tokens),
        "times-ten": Fraction(10 * simplified, tokens),
        "weights-32-bit": park_memory_gb(billions, 32),
        "weights-16-bit": park_memory_gb(billions, 16),
        "weights-8-bit": park_memory_gb(billions, 8),
        "weights-4-bit": park_memory_gb(billions, 4),
        "parameters-written": billions * 10**9,
        "bytes-written": billions * 10**9 * 4,
        "experts-32-bit": park_memory_gb(billions, 32, experts=8),
        "experts-16-bit": park_memory_gb(billions, 16, experts=8),
        "adamw": billions * OPTIMIZER_STATE_BYTES["adamw"],
        "adafactor": billions * OPTIMIZER_STATE_BYTES["adafactor"],
        "adamw-8-bit": billions * OPTIMIZER_STATE_BYTES["adamw-8bit"],
    }
    return {claim: Fraction(value) for claim, value in values.items()}
