"""Products that hold cards: what they are, how many are in them, and what else. None of them is ever one card."""

from __future__ import annotations

import pytest

from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()


@pytest.mark.parametrize(
    ("title", "kind", "count", "contained", "parts"),
    [
        ("Supermicro 8x H100 SXM5 80GB HGX server", "server", 8, "nvidia-h100-sxm5", {}),
        ("NVIDIA DGX H100 8x H100 80GB", "server", 8, "nvidia-h100-sxm5", {"cpu": 2}),
        ("GB200 NVL72", "server", 72, "nvidia-gb200", {"cpu": 36}),
        ("2x RTX 3090 NVLink", "kit", 2, "nvidia-geforce-rtx-3090", {"nvlink_bridge": 1}),
        ("NVIDIA DGX A100 640GB", "server", 8, "nvidia-a100-sxm4-80gb", {"cpu": 2}),
        ("NVIDIA DGX Station A100 320GB", "workstation", 4, "nvidia-a100-sxm4-80gb", {"cpu": 1}),
        ("Dell PowerEdge XE9680 8x H100 SXM 2x Xeon 8480", "server", 8, "nvidia-h100-sxm5", {"cpu": 2}),
        ("HGX B200 8-GPU baseboard", "server", 8, "nvidia-b200", {}),
        ("Server with 4 x NVIDIA L40S 48GB, dual EPYC 9354", "server", 4, "nvidia-l40s", {"cpu": 2}),
        ("Lambda Vector workstation 2x RTX 4090", "workstation", 2, "nvidia-geforce-rtx-4090", {}),
        ("DGX Spark", "workstation", 1, "nvidia-gb10", {"cpu": 1}),
        ("Gaming PC Ryzen 7 7800X3D 32GB RAM 2TB RTX 4080 SUPER", "computer", 1, "nvidia-geforce-rtx-4080-super",
         {"cpu": 1, "drive": 1}),
        ("MSI Katana 15 RTX 4070", "laptop", 1, "nvidia-geforce-rtx-4070-mobile", {}),
        ("Gigabyte AORUS RTX 4090 Gaming Box", "egpu", 1, "nvidia-geforce-rtx-4090", {}),
        ("Razer Core X eGPU enclosure", "egpu", 0, None, {}),
        ("Lot of 4 NVIDIA Tesla P40 24GB", "lot", 4, "nvidia-tesla-p40", {}),
        ("RTX 4090 + Ryzen 9 7950X bundle", "kit", 1, "nvidia-geforce-rtx-4090", {"cpu": 1}),
        ("엔비디아 H100 SXM5 8개 서버", "server", 8, "nvidia-h100-sxm5", {}),
    ],
)  # fmt: skip
def test_what_is_sold_and_how_many(
    title: str, kind: str, count: int, contained: str | None, parts: dict[str, int]
) -> None:
    found = RESOLVER.resolve(title, source="some_shop")
    assert (found.status, found.gpu_id) == ("not_a_gpu", None)
    assert (found.product_kind, found.gpu_count) == (kind, count), found.explanation
    assert (found.contained[0] if found.contained else None) == contained, found.explanation
    assert dict(found.parts) == parts


@pytest.mark.parametrize(
    "title",
    [
        "NVIDIA RTX PRO 6000 Blackwell Server Edition 96GB",
        "NVIDIA RTX PRO 6000 Blackwell Workstation Edition 96GB",
        "PNY NVIDIA RTX A6000 48GB GDDR6 Workstation Graphics Card",
        "NVIDIA Tesla P40 24GB Server GPU Accelerator Card",
        "NVIDIA H100 NVL 94 GB PCIe",
    ],
)
def test_a_card_for_servers_is_a_card(title: str) -> None:
    found = RESOLVER.resolve(title, source="some_shop")
    assert (found.status, found.product_kind, found.gpu_count) == ("matched", "card", 1), found.explanation


@pytest.mark.parametrize("title", ["HGX H100 server", "Dell PowerEdge R750 NVIDIA A10"])
def test_a_number_that_nobody_states_is_not_guessed(title: str) -> None:
    found = RESOLVER.resolve(title, source="some_shop")
    assert (found.status, found.product_kind, found.gpu_count) == ("not_a_gpu", "server", None)


def test_what_is_for_a_server_holds_no_card() -> None:
    found = RESOLVER.resolve("Riser cable for Supermicro 8x H100 server", source="some_shop")
    assert (found.status, found.product_kind, found.contained) == ("not_a_gpu", "accessory", None)


def test_a_rented_server_is_its_gpus() -> None:
    found = RESOLVER.resolve("8x H100 SXM5 80GB", source="gpuhunt_catalog")
    assert (found.status, found.gpu_id, found.gpu_count) == ("matched", "nvidia-h100-sxm5", 8)


def test_json_says_what_is_in_it() -> None:
    row = RESOLVER.resolve("NVIDIA DGX H100 8x H100 80GB").to_json()
    assert (row["product_kind"], row["gpu_count"], row["gpu_id"]) == ("server", 8, None)
    assert row["contains"] == [
        {"part": "gpu", "count": 8, "gpu_id": "nvidia-h100-sxm5", "gpu": "NVIDIA H100 SXM5"},
        {"part": "cpu", "count": 2},
    ]


@pytest.mark.parametrize(
    ("title", "contained"),
    [
        ("Apple Mac Studio M3 Ultra 256GB 1TB", "apple-m3-ultra-256gb"),
        ("Apple Mac mini M4 Pro 512GB SSD 48GB", "apple-m4-pro-48gb"),
        ("Framework Desktop Ryzen AI Max+ 395 128GB", "amd-ryzen-ai-max-plus-395-128gb"),
        ("GMKtec EVO-X2 AI Mini PC Ryzen AI Max+ 395 64GB LPDDR5X 2TB", "amd-ryzen-ai-max-plus-395-64gb"),
        ("ASUS Ascent GX10 GB10 128GB", "nvidia-gb10"),
        ("Apple Mac Studio M4 Max 1TB SSD", None),
    ],
)
def test_a_machine_of_shared_memory_is_known_by_chip_and_memory(title: str, contained: str | None) -> None:
    found = RESOLVER.resolve(title, source="some_shop")
    assert (found.status, found.gpu_count) == ("not_a_gpu", 1)
    assert (found.contained[0] if found.contained else None) == contained
    assert dict(found.parts).get("drive", 1) == 1, "the X of a memory type counts no drives"
