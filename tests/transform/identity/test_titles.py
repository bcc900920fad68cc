"""Titles of every kind that the resolver tells apart, and what each must come to: `titles.csv`, by kind."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()


def _rows() -> list[dict[str, str]]:
    with Path(__file__).with_name("titles.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row["title"])
def test_title(row: dict[str, str]) -> None:
    found = RESOLVER.resolve(row["title"])
    assert (found.status, found.gpu_id or "") == (row["status"], row["gpu_id"]), found.explanation
    if row["candidates"]:
        assert found.candidates == tuple(row["candidates"].split())


#: What belongs to a laptop or a computer in a shop is a chip's or a system's name in a table of results.
@pytest.mark.parametrize(
    ("title", "benchmark"),
    [
        ("RTX 4090 Laptop GPU", "nvidia-geforce-rtx-4090-mobile"),
        ("Radeon 780M", "amd-radeon-780m"),
        ("Pi 5 - 16GB (AMD RX 7900 XT)", "amd-radeon-rx-7900-xt"),
        ("Intel 13900K (Nvidia 4090)", "nvidia-geforce-rtx-4090"),
        ("Pi 5 - 8GB (AMD RX 6700 XT) 12GB", "amd-radeon-rx-6700-xt"),
    ],
)
def test_a_shop_sells_the_whole_thing_and_a_benchmark_names_the_gpu(title: str, benchmark: str) -> None:
    assert RESOLVER.resolve(title, source="ollama_benchmark").gpu_id == benchmark
    assert RESOLVER.resolve(title).gpu_id == benchmark
    sold = RESOLVER.resolve(title, source="some_shop")
    assert sold.gpu_id is None
    assert sold.status in ("not_a_gpu", "ambiguous")


@pytest.mark.parametrize(
    "title",
    ["Gaming PC (RTX 4090)", "HP Victus 15 RTX 3050 6GB", "MSI Aegis 32GB DDR5 1TB RTX 4070 Ti 12GB", "Tower RTX 4080"],
)
def test_a_computer_never_has_the_price_of_its_card(title: str) -> None:
    for source in (None, "some_shop"):
        assert RESOLVER.resolve(title, source=source).gpu_id is None


@pytest.mark.parametrize(
    ("title", "count"),
    [
        ("2x RTX 3090 24GB", 2),
        ("RTX 3090 x2", 2),
        ("4 x Tesla V100 16GB SXM2", 4),
        ("8-GPU H100 SXM5 80GB", 8),
        ("2x Triple Fan RTX 4090 24GB", 2),
        ("ASUS RTX 4090 24GB 2개", 2),
        ("ASUS RTX 4090 24GB 3팬 2개", 2),
    ],
)
def test_several_cards_are_one_cloud_instance_and_no_card_of_a_shop(title: str, count: int) -> None:
    sold, rented = RESOLVER.resolve(title, source="some_shop"), RESOLVER.resolve(title, source="gpuhunt_catalog")
    assert (sold.status, sold.gpu_count) == ("not_a_gpu", count)
    assert (rented.status, rented.gpu_count) == ("matched", count)


@pytest.mark.parametrize(
    "title",
    [
        "MSI GeForce RTX 3060 VENTUS 2X 12G OC",
        "INNO3D GeForce RTX 4080 SUPER X3 OC 16GB",
        "ASUS RTX 4090 24GB PCI Express 4.0 x16",
        "Sapphire Radeon RX 7600 8GB 2x HDMI",
        "Lenovo GeForce RTX 3080 10GB (4X61C56103)",
        "HIS Radeon RX Vega 56 8GB X2",
        "GIGABYTE Radeon RX 7600 8G, 3x WINDFORCE Fans",
        "RTX 4090 24GB x2 fan",
        "2x fan ASUS RTX 4090 24GB",
        "ASUS RTX 4090 24GB 팬 2개",
        "ASUS RTX 4090 24GB 3개 팬",
    ],
)
def test_fans_lanes_and_connectors_are_no_cards(title: str) -> None:
    found = RESOLVER.resolve(title)
    assert (found.status, found.gpu_count) == ("matched", 1), found.explanation


def test_fans_of_what_is_no_card_are_no_cards_either() -> None:
    found = RESOLVER.resolve("Triple Fan RTX 4090 x2 fan")
    assert (found.status, found.gpu_count) == ("not_a_gpu", 1), found.explanation


def test_the_answer_as_json_has_exactly_the_promised_fields() -> None:
    found = RESOLVER.resolve("MSI GeForce RTX 3060 VENTUS 2X 12G OC", explain=True)
    assert found.to_json() == {
        "title": "MSI GeForce RTX 3060 VENTUS 2X 12G OC",
        "status": "matched",
        "gpu_id": "nvidia-geforce-rtx-3060-12gb",
        "gpu": "NVIDIA GeForce RTX 3060 12GB",
        "product_kind": "card",
        "gpu_count": 1,
        "candidates": ["nvidia-geforce-rtx-3060-12gb"],
        "contains": [],
    }
    explained = found.to_json(explain=True)
    assert explained.keys() - found.to_json().keys()
    assert "ventus" in found.ignored
    assert found.decided_by == ("rtx 3060",)
