"""A card is named as drivers and shops write it; a rebuilt one is another card."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from gpuledger.flows.asking.card_names import count_and_name, gpu_of, gpus_of
from gpuledger.warehouse.paths import DataDir


@pytest.mark.parametrize(
    ("name", "gpu_id"),
    [
        ("M2 Ultra 76-Core GPU 192GB", "apple-m2-ultra-192gb"),
        ("m1 pro 16 GB", "apple-m1-pro-16gb"),
        ("M1 7-core GPU 8GB", "apple-m1-8gb"),
        ("Ryzen AI Max+ 395 128GB", "amd-ryzen-ai-max-plus-395-128gb"),
        ("DGX Spark", "nvidia-gb10"),
        *((name, "nvidia-tesla-v100-sxm2-32gb") for name in ("Tesla V100-SXM2-32GB", "V100 32GB SXM2")),
        *(
            (name, "nvidia-geforce-rtx-4090")
            for name in ("rtx4090", "RTX 4090 24GB", "4090", "nvidia-geforce-rtx-4090")
        ),
    ],
)
def test_a_card_may_be_named_as_people_name_it(name: str, gpu_id: str, tmp_path: Path) -> None:
    assert gpu_of(DataDir(tmp_path), name).gpu_id == gpu_id


def test_memory_that_a_card_was_not_sold_with_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(
        click.UsageError, match=r"RTX 4090; states 48GB, which it was not sold with; `gpuledger gpu add`"
    ):
        gpu_of(DataDir(tmp_path), "RTX 4090 48GB")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("4x RTX A6000", (4, "RTX A6000")),
        ("RTX 3090 x2", (2, "RTX 3090")),
        ("3090 24GB * 2", (2, "3090 24GB")),
        ("Radeon R9 390 X2", (1, "Radeon R9 390 X2")),  # a card of that name
        ("RTX 4090", (1, "RTX 4090")),
    ],
)
def test_how_many_of_a_card_are_named(words: str, said: tuple[int, str], tmp_path: Path) -> None:
    assert count_and_name(DataDir(tmp_path), words) == said


@pytest.mark.parametrize("words", ["9999999999x rtx 4090", "rtx 4090 x 100", "0x rtx 4090"])
def test_no_machine_holds_that_many(words: str, tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="1 to 99 cards"):
        count_and_name(DataDir(tmp_path), words)


def test_a_chip_is_the_machines_around_it(tmp_path: Path) -> None:
    assert {gpu.chip for gpu in gpus_of(DataDir(tmp_path), "Strix Halo")} == {"Strix Halo"}
    assert gpu_of(DataDir(tmp_path), "A40").gpu_id == "nvidia-a40"
