"""Titles of every kind that the resolver tells apart, with the other fields of their items, and what each must come to.

`titles.csv` goes by kind; `parts_and_servers.csv` was written before the rules, of servers by their models, cards taken out
of machines and machines of tables. Each row holds the status, the card or what is in the product, how many, what it is and
what else is in it; `?`, or no cell, where a title leaves it open.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Evidence, Resolver

RESOLVER = Resolver.load()
CLOUD = "gpuhunt_catalog"


def rows(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), restval="?"))


@pytest.mark.parametrize("row", rows("titles.csv"), ids=lambda row: row["title"])
def test_title(row: dict[str, str]) -> None:
    found = RESOLVER.resolve(row["title"])
    assert (found.status, found.gpu_id or "") == (row["status"], row["gpu_id"]), found.explanation
    if row["candidates"]:
        assert found.candidates == tuple(row["candidates"].split())


@pytest.mark.parametrize("row", rows("parts_and_servers.csv"), ids=lambda row: row["title"])
def test_what_a_title_sells(row: dict[str, str]) -> None:
    found = RESOLVER.resolve(row["title"], source=row["source"] or None)
    gpu_id = found.gpu_id or (found.contained[0] if found.contained else "")
    said = {
        "status": found.status, "gpu_id": gpu_id, "gpu_count": str(found.gpu_count),
        "product_kind": found.product_kind or "", "parts": " ".join(f"{part} {count}" for part, count in found.parts),
    }  # fmt: skip
    assert {name: value for name, value in said.items() if row[name] != "?"} == {
        name: row[name] for name in said if row[name] != "?"
    }, found.explanation


def test_the_answer_as_json_has_exactly_the_promised_fields() -> None:
    found = RESOLVER.resolve("MSI GeForce RTX 3060 FROZR 2X 12G OC", explain=True)
    assert found.to_json() == {
        "title": "MSI GeForce RTX 3060 FROZR 2X 12G OC",
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
    assert "frozr" in found.ignored
    assert found.decided_by == ("rtx 3060",)


def test_json_says_what_is_in_it() -> None:
    row = RESOLVER.resolve("NVIDIA DGX H100 8x H100 80GB").to_json()
    assert (row["product_kind"], row["gpu_count"], row["gpu_id"]) == ("server", 8, None)
    assert row["contains"] == [
        {"part": "gpu", "count": 8, "gpu_id": "nvidia-h100-sxm5", "gpu": "NVIDIA H100 SXM5"},
        {"part": "cpu", "count": 2},
    ]


def test_an_edition_that_a_cloud_leaves_out_stays_open() -> None:
    found = RESOLVER.resolve("RTX PRO 6000", source=CLOUD)
    assert found.status == "ambiguous"
    assert set(found.candidates) == {"nvidia-rtx-pro-6000-blackwell", "nvidia-rtx-pro-6000-blackwell-server"}


@pytest.mark.parametrize("name", ["NVIDIA A10-4Q", "A100 MIG 1g.10gb", "1/8 A10", "A10 (1/6)", "NVIDIA L4 vGPU"])
def test_a_slice_of_a_card_never_has_the_price_of_the_card(name: str) -> None:
    found = RESOLVER.resolve(name, source=CLOUD)
    assert (found.status, found.rule) == ("unmatched", "slice")


def test_memory_that_no_candidate_has_leaves_none_to_compare_by() -> None:
    """Offers that are open are compared by the least of their candidates: a sixth of an A10 would count as an A10."""
    found = RESOLVER.resolve("A10", Evidence(memory="4"), source=CLOUD)
    assert (found.status, found.rule) == ("unmatched", "conflict")
    assert RESOLVER.resolve("A10", Evidence(memory="24"), source=CLOUD).gpu_id == "nvidia-a10"
    assert RESOLVER.resolve("A100", Evidence(memory="80"), source=CLOUD).status == "ambiguous"


@pytest.mark.parametrize(
    ("title", "evidence", "gpu_id"),
    [
        ("Gigabyte WINDFORCE OC", Evidence(chipset="GeForce RTX 4070"), "nvidia-geforce-rtx-4070"),
        ("Gigabyte WINDFORCE OC", Evidence(chipset="GeForce RTX 3060 12GB"), "nvidia-geforce-rtx-3060-12gb"),
        ("Zotac Twin Fan", Evidence(chipset="GeForce GTX 1660"), "nvidia-geforce-gtx-1660"),
        ("MSI GeForce RTX 3060 VENTUS", Evidence(memory="12"), "nvidia-geforce-rtx-3060-12gb"),
        ("MSI GeForce RTX 3060 VENTUS", Evidence(memory="8.0"), "nvidia-geforce-rtx-3060-8gb"),
        ("MSI GeForce RTX 3060 VENTUS", Evidence(memory="12 GB GDDR6"), "nvidia-geforce-rtx-3060-12gb"),
        ("MSI GeForce RTX 3060 VENTUS", Evidence(mpn="RTX 3060 VENTUS 2X 12G OC"), "nvidia-geforce-rtx-3060-12gb"),
        ("MSI GeForce RTX 3060 VENTUS", Evidence(specs="192-bit 12GB GDDR6 / PCIe 4.0"), "nvidia-geforce-rtx-3060-12gb"),
        ("GeForce RTX 4060 Ti Eagle", Evidence(mpn="GV-N406TEAGLE OC-8GD"), "nvidia-geforce-rtx-4060-ti-8gb"),
        ("Radeon Gaming OC", Evidence(mpn="GV-R9070XTGAMING OC-16GD"), "amd-radeon-rx-9070-xt"),
        ("H100", Evidence(memory="80", specs="gpu_1x_h100_sxm5"), "nvidia-h100-sxm5"),
        ("A100", Evidence(specs="A100-PCIE-40GB"), "nvidia-a100-pcie-40gb"),
        ("NZXT RTX 4070", Evidence(brand="ASUS"), "nvidia-geforce-rtx-4070"),
    ],
)  # fmt: skip
def test_a_field_settles_what_the_title_leaves_open(title: str, evidence: Evidence, gpu_id: str) -> None:
    assert RESOLVER.resolve(title).status != "matched"
    found = RESOLVER.resolve(title, evidence)
    assert found.gpu_id == gpu_id, found.explanation


@pytest.mark.parametrize(
    ("title", "evidence"),
    [
        ("MSI GeForce RTX 3060 VENTUS 12GB", Evidence(memory="8 GB")),
        ("MSI GeForce RTX 3060 VENTUS", Evidence(memory="16 GB")),
        ("ASUS GeForce RTX 4070 DUAL", Evidence(chipset="GeForce RTX 4070 SUPER")),
        ("Gigabyte GeForce RTX 4060 Eagle", Evidence(mpn="GV-N406TEAGLE OC-8GD")),
        ("ASUS GeForce RTX 4070 DUAL 12GB", Evidence(chipset="Radeon RX 7700 XT")),
    ],
)
def test_a_field_that_contradicts_the_title_leaves_no_match(title: str, evidence: Evidence) -> None:
    found = RESOLVER.resolve(title, evidence)
    assert found.status == "ambiguous", found.explanation
    assert found.gpu_id is None


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(),
        Evidence(memory="", specs="", mpn="", chipset="", brand=""),
        Evidence(chipset="NVIDIA"),
        Evidence(specs="RTX 3060 8GB or RTX 3060 12GB"),
        Evidence(specs="compatible with RTX 3060, RTX 3070 and RTX 3080"),
        Evidence(mpn="12345-678"),
    ],
)
def test_fields_that_say_nothing_settle_nothing(evidence: Evidence) -> None:
    assert RESOLVER.resolve("MSI GeForce RTX 3060 VENTUS", evidence).status == "ambiguous"
    assert RESOLVER.resolve("Gigabyte WINDFORCE OC", evidence).gpu_id is None


def test_a_specification_text_never_overrules_the_title() -> None:
    """It may speak of a whole system's memory, or of other cards."""
    evidence = Evidence(specs="16GB DDR4, 512GB SSD, 650W PSU recommended", mpn="RTX 4090")
    assert RESOLVER.resolve("MSI GeForce RTX 3060 VENTUS 12GB", evidence).gpu_id == "nvidia-geforce-rtx-3060-12gb"


def test_a_laptop_stays_a_laptop_whatever_its_fields_say() -> None:
    evidence = Evidence(memory="8 GB", chipset="GeForce RTX 4070", brand="MSI")
    found = RESOLVER.resolve("MSI Katana 15 laptop RTX 4070", evidence)
    assert found.status == "not_a_gpu"


SOLD = ("consumer", "workstation", "data_center", "mining")


CARDS = [gpu for gpu in catalogue.gpus() if gpu.segment in SOLD and gpu.released_on and gpu.released_on.year >= 2014]


def titles(gpu: Gpu) -> Iterator[str]:
    """Titles of one card. None states a memory type: a GTX 1650 with GDDR6 is another card."""
    memory = catalogue.memory_text(gpu.memory_gb) if gpu.memory_gb else ""
    name = gpu.name.removesuffix(memory).strip()
    short = name.replace("GeForce ", "").replace("Radeon ", "")
    glued, size = short.replace(" ", ""), memory.removesuffix("B")
    yield f"{gpu.vendor} {name} {memory}"
    yield f"MSI {name} {size} Gaming Trio OC"
    yield f"Gigabyte {glued} WINDFORCE OC {size}"
    yield f"ASUS DUAL-{glued}-O{size} {name} {memory}"
    yield f"PNY {name} {memory} Dual Fan Graphics Card PCI Express 4.0"
    yield f"Palit {short.upper()} DUAL {memory} Grafikkarte, HDMI, 3x DP"
    yield f"이엠텍 {name} STORM Dual OC {memory} 그래픽카드"
    yield f"Karta graficzna {name.lower()} {memory.lower()}"
    yield f"{name.replace(' ', '-')} {size}"
    yield f"Used - {short} ({memory}) - Excellent condition"
    yield f"Leadtek {name} 显卡 {size} 三风扇"
    yield f"Видеокарта {name} {memory.replace('GB', ' ГБ')}"


@pytest.mark.parametrize("style", range(len(list(titles(CARDS[0])))))
def test_a_title_means_its_card_or_stays_open(style: int) -> None:
    matched = 0
    for gpu in CARDS:
        title = list(titles(gpu))[style]
        found = RESOLVER.resolve(title)
        assert found.gpu_id in (gpu.gpu_id, None), f"{title!r}: {found.explanation}"
        assert found.status != "ambiguous" or gpu.gpu_id in found.candidates, f"{title!r}: {found.candidates}"
        matched += found.gpu_id is not None
    assert matched > 0.75 * len(CARDS), "a server card's short name alone says too little in a shop"
