"""Methods as others published them, right or wrong, under names of their own. The exact methods are in `sizing`.

The second source document (Minwoo Park 2023, on the operations and memory of LLaMA-2 7B) estimates a forward pass from
four numbers. Its total is three times the exact total, and `difference` lists the reasons. We compute it to the last digit,
so that a reader who finds it elsewhere can see where it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gpuledger.transform.sizing.running import prefill_flops
from gpuledger.transform.sizing.tensors import Architecture


@dataclass(frozen=True, slots=True)
class TransformerFlops:
    """The published estimate: operations of all attention and of all feed-forwards, their sum, and the sum for a token."""

    attention: int
    feed_forward: int
    total: int
    per_token: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step from the published total to the exact one. The step adds `flops`, and all steps add up to the difference."""

    reason: str
    flops: int


def park_transformer_flops(*, tokens: int, hidden: int, inner: int, layers: int, heads: int) -> TransformerFlops:
    """The published method: attention 2·L·H² × layers × heads, feed-forward 2·2·L·H·F × layers.

    For L = 512, H = 4096, F = 11008, 32 layers and 32 heads: 20,547,123,544,064, and 40,131,100,672 a token.
    """
    attention = 2 * tokens * hidden**2 * layers * heads
    feed_forward = 2 * 2 * tokens * hidden * inner * layers
    total = attention + feed_forward
    return TransformerFlops(attention, feed_forward, total, total // tokens)


def difference(architecture: Architecture, tokens: int, *, inner: int, heads: int) -> list[Step]:
    """The steps from the published total to the exact total of `architecture` for a prompt of `tokens` tokens.

    The exact total includes the scores over the vocabulary at every position and the full square of attention, because the
    document's own formulas count positions in this way. The last step holds the remainder (0 for a model of the document's
    shape), so the steps always add up.
    """
    hidden, layers = architecture.hidden, architecture.layers
    published = park_transformer_flops(tokens=tokens, hidden=hidden, inner=inner, layers=layers, heads=heads)
    exact = prefill_flops(architecture, tokens, causal=False, logits="all")
    one_projection = 2 * tokens * hidden**2 * layers
    steps = [
        Step(
            "hidden already spans all heads, so attention must not be multiplied by them", -one_projection * (heads - 1)
        ),
        Step("attention has four projections (query, key, value, output), not one", one_projection * 3),
        Step("the score and value products between tokens are left out", exact.scores + exact.values),
        Step("SwiGLU has three matrices, not two", 2 * tokens * hidden * inner * layers),
        Step("the output projection over the vocabulary is left out", exact.output),
    ]
    remainder = exact.total - published.total - sum(step.flops for step in steps)
    return [*steps, Step("other shapes than the document's own model", remainder)]


def park_memory_gb(parameters_billion: int, bits: int, experts: int = 1) -> Fraction:
    """The published rule: billions of parameters × bytes of a parameter = GB, multiplied by the number of experts."""
    return Fraction(parameters_billion * experts * bits, 8)
