"""What clouds rent: bare numbers, editions left out, and slices of cards."""

from __future__ import annotations

import pytest

from gpuledger.transform.identity.resolver import Evidence, Resolver

RESOLVER = Resolver.load()
CLOUD = "gpuhunt_catalog"


@pytest.mark.parametrize(
    ("name", "gpu_id"),
    [
        ("A40", "nvidia-a40"),  # Intel has an Arc Pro A40
        ("H100-MEGA-80GB", "nvidia-h100-sxm5"),
        ("H100 SXM5 x8", "nvidia-h100-sxm5"),
        ("RTX PRO 6000 WS", "nvidia-rtx-pro-6000-blackwell"),
        ("RTX PRO 6000 Blackwell Server Edition", "nvidia-rtx-pro-6000-blackwell-server"),
        ("A10", "nvidia-a10"),
        ("GH200 480GB", "nvidia-gh200-96gb"),
    ],
)
def test_a_cloud_names_gpus_by_their_number_alone(name: str, gpu_id: str) -> None:
    assert RESOLVER.resolve(name, source=CLOUD).gpu_id == gpu_id


def test_an_edition_that_a_cloud_leaves_out_stays_open() -> None:
    found = RESOLVER.resolve("RTX PRO 6000", source=CLOUD)
    assert found.status == "ambiguous"
    assert set(found.candidates) == {"nvidia-rtx-pro-6000-blackwell", "nvidia-rtx-pro-6000-blackwell-server"}
    assert RESOLVER.resolve("PNY RTX PRO 6000 Blackwell 96GB", source="some_shop").status == "matched"


@pytest.mark.parametrize("name", ["NVIDIA A10-4Q", "A100 MIG 1g.10gb", "1/8 A10", "A10 (1/6)", "NVIDIA L4 vGPU"])
def test_a_slice_of_a_card_never_has_the_price_of_the_card(name: str) -> None:
    found = RESOLVER.resolve(name, source=CLOUD)
    assert (found.status, found.rule) == ("unmatched", "slice")


def test_memory_that_no_candidate_has_leaves_none_to_compare_by() -> None:
    """Offers that are open are compared by the least of their candidates: a sixth of an A10 would count as an A10."""
    found = RESOLVER.resolve("A10", Evidence(memory="4"), source=CLOUD)
    assert (found.status, found.rule) == ("unmatched", "conflict")
    assert RESOLVER.resolve("H100 64GB", source=CLOUD).status == "unmatched"
    assert RESOLVER.resolve("A10", Evidence(memory="24"), source=CLOUD).gpu_id == "nvidia-a10"
    assert RESOLVER.resolve("A100", Evidence(memory="80"), source=CLOUD).status == "ambiguous"


@pytest.mark.parametrize("name", ["a2-highgpu-1g", "g4dn.xlarge", "p4d.24xlarge", "Standard_NV6ads_A10_v5x"])
def test_the_name_of_a_machine_is_no_card(name: str) -> None:
    assert RESOLVER.resolve(name, source=CLOUD).gpu_id is None


@pytest.mark.parametrize(("title", "count"), [("2x RTX 3090 24GB bundle", 2), ("8 x NVIDIA H100", 8)])
def test_how_many_there_are_is_said_whatever_the_answer(title: str, count: int) -> None:
    assert RESOLVER.resolve(title).gpu_count == count
