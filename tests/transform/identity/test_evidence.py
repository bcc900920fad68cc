"""The item's other fields settle what a title leaves open, and what they contradict is not matched."""

from __future__ import annotations

import pytest

from gpuledger.transform.identity.resolver import Evidence, Resolver

RESOLVER = Resolver.load()


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
