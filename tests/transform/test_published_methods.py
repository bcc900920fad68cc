"""The second document's method to the last digit, and the way from its total to the exact one."""

from __future__ import annotations

import pytest

from gpuledger.transform.claims.published_methods import (
    difference,
    park_memory_gb,
    park_optimizer_gb,
    park_transformer_flops,
)
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import prefill_flops

LLAMA = {"tokens": 512, "hidden": 4096, "inner": 11008, "layers": 32, "heads": 32}


def test_the_total_and_a_token() -> None:
    flops = park_transformer_flops(**LLAMA)
    assert flops.total == 20_547_123_544_064
    assert flops.per_token == 40_131_100_672


@pytest.mark.parametrize(("model_id", "inner", "heads"), [("llama-2-7b", 11008, 32), ("llama-3-8b", 14336, 32)])
def test_the_steps_lead_from_the_published_total_to_the_exact_one(model_id: str, inner: int, heads: int) -> None:
    architecture = catalogue.architecture(model_id)
    published = park_transformer_flops(
        tokens=512, hidden=architecture.hidden, inner=inner, layers=architecture.layers, heads=heads
    )
    steps = difference(architecture, 512, inner=inner, heads=heads)
    exact = prefill_flops(architecture, 512, causal=False, logits="all").total
    assert published.total + sum(step.flops for step in steps) == exact


def test_five_reasons_explain_it_all_for_the_documents_own_model() -> None:
    steps = difference(catalogue.architecture("llama-2-7b"), 512, inner=11008, heads=32)
    assert len(steps) == 6
    assert steps[-1].flops == 0
    assert all(step.flops for step in steps[:-1])


def test_the_published_total_is_three_times_the_exact_one() -> None:
    exact = prefill_flops(catalogue.architecture("llama-2-7b"), 512, causal=False, logits="all").total
    assert park_transformer_flops(**LLAMA).total / exact == pytest.approx(2.98, abs=0.005)


def test_the_memory_rules() -> None:
    assert [park_memory_gb(7, bits) for bits in (32, 16, 4)] == [28, 14, 3.5]
    assert [park_memory_gb(7, bits, experts=8) for bits in (32, 16)] == [224, 112]
    assert [park_optimizer_gb(7, name) for name in ("AdamW", "Adafactor", "8-bit AdamW")] == [56, 28, 14]
