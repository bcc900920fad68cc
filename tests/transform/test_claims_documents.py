"""The audit of the documents' figures and methods: complete, exact, and loud where a file is not as it must be."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from gpuledger.transform.claims import ai_computing, audit, recompute
from gpuledger.transform.claims.published_methods import (
    difference,
    park_memory_gb,
    park_transformer_flops,
)
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import prefill_flops

#: Where one does not agree and has no erratum, or agrees and has one, this is refused: see below.
CLAIMS = {(claim.document, claim.claim_id): claim for claim in recompute()}


@pytest.mark.parametrize(
    ("key", "decimals", "expected"),
    [
        (("ai-computing", "amdahl-95-percent"), 2, "19.99"),
        (("ai-computing", "a100-cuda-cores"), 0, "6912"),
        (("ai-computing", "a100-tensor-cores"), 0, "432"),
        (("gpu-wiki", "aws-v100-discount"), 1, "60.4"),
        (("gpu-wiki", "aws-k80-discount"), 1, "53.5"),
        (("gpu-wiki", "aws-m60-discount"), 1, "51.8"),
        (("gpu-wiki", "azure-hour"), 1, "1632.9"),
        (("gpu-wiki", "gcp-k80-month"), 2, "250.39"),
        (("gpu-wiki", "k40-cores"), 0, "2880"),
        (("gpu-wiki", "k80-cores"), 0, "4992"),
        (("gpu-wiki", "p40-cores"), 0, "3840"),
        (("gpu-wiki", "p4-cores"), 0, "2560"),
        (("transformer-flops", "exact-flops"), 0, "6903086186496"),
        (("transformer-flops", "weights-8-bit"), 0, "7"),
        (("transformer-flops", "simplified-formula-as-printed"), 0, "774619135907725312"),
        (("transformer-flops", "simplified-formula-per-token-as-printed"), 0, "756463999909888"),
        (("transformer-flops", "value-1-equation-as-printed"), 0, "9101757254729728"),
        (("transformer-flops", "concluding-formula-as-printed"), 0, "13950053777408"),
        (("transformer-flops", "value-4"), 0, "4294967296"),
        (("survey-prose", "text/about-ten-times"), 1, "11.2"),
    ],
)
def test_what_does_not_agree_is_recomputed(key: tuple[str, str], decimals: int, expected: str) -> None:
    value = CLAIMS[key].recomputed
    assert value is not None
    assert audit.rounded(Fraction(value), decimals, half_up=True) == Fraction(expected)


def test_the_ladder_agrees_within_the_rounding_of_its_times() -> None:
    low, high = ai_computing.input_ranges(audit.load("ai_computing")["inputs"])["ladder-avx"]
    assert low < 62806 < high
    # And the range says something: a figure two percent off would not pass.
    assert not low < 62806 * Fraction(102, 100) < high


def test_inputs_are_the_published_tables(shared_data: Path) -> None:
    top500 = (shared_data / "survey" / "top500_2024_06.csv").read_text(encoding="utf-8").splitlines()[1:]
    printed = [line.split(",") for line in top500]
    rows = audit.load("ai_computing")["inputs"]["top500"]
    assert [(row["system"], row["cores"]) for row in rows] == [(cells[1], int(cells[3])) for cells in printed]
    for row, cells in zip(rows, printed, strict=True):
        assert (row["rmax_pflops"], row["rpeak_pflops"]) == (Decimal(cells[4]), Decimal(cells[5]))
        assert str(row.get("power_kw", "")) == cells[6]
    prices = (shared_data / "survey" / "cloud_prices.csv").read_text(encoding="utf-8")
    for gpu, row in audit.load("gpu_wiki")["inputs"]["aws"].items():
        card = gpu.split("-")[1].upper()
        assert f"aws,,{card},on_demand,{row['on_demand']},USD" in prices
        assert f"aws,,{card},reserved_3y,{row['reserved_3y']},USD" in prices


@pytest.mark.parametrize(
    ("value", "decimals", "half_up", "expected"),
    [
        ("0.5", 0, True, "1"),
        ("-0.5", 0, True, "-1"),
        ("2.5", 0, True, "3"),
        ("0.0449999999999999999999999999999999999999999999999999999999999999999999999", 2, True, "0.04"),
        ("1632.9", 0, False, "1632"),
        ("-1632.9", 0, False, "-1632"),
    ],
)
def test_rounding_is_exact_and_half_up(value: str, decimals: int, half_up: bool, expected: str) -> None:
    assert audit.rounded(Fraction(value), decimals, half_up=half_up) == Fraction(expected)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ({"published": "3"}, Fraction(4), "needs an erratum"),
        ({"published": "3", "erratum": "why"}, Fraction(3), "no other may have them"),
        ({"published": "3"}, None, "needs a reason"),
        ({"published": "3", "rounding": "bankers"}, Fraction(3), "'bankers' is none of half_up, down"),
        ({"published": "3", "rounding": "within_inputs"}, Fraction(3), "needs the range"),
    ],
)
def test_a_claim_without_its_reason_is_refused(entry: dict[str, str], value: Fraction | None, message: str) -> None:
    complete = {"id": "c", "statement": "s", "unit": "u", **entry}
    with pytest.raises(ValueError, match=message):
        audit._claim("file.toml", "d", complete, value, None)


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
