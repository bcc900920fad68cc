"""GPUs that a user added: what they must state, which titles mean them, and what a bad file does."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from gpuledger.transform.identity.added_cards import GPUS, BadGpu, OwnGpu, new_gpu
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver

DAY = date(2026, 11, 2)


@pytest.fixture(scope="module")
def doubled() -> Gpu:
    """A card whose memory somebody doubled: everything else is the catalogue's."""
    return new_gpu("NVIDIA", "RTX 4090 48GB", by_id()["nvidia-geforce-rtx-4090"], {"memory_gb": "48"})


@pytest.fixture(scope="module")
def unheard_of() -> Gpu:
    return new_gpu(
        "Biren", "BR100", None, {"memory_gb": "64", "memory_bandwidth_gb_s": "2300", "segment": "data_center"}
    )


def test_a_card_like_another_has_its_figures_and_neither_its_price_nor_its_day(doubled: Gpu) -> None:
    model = by_id()["nvidia-geforce-rtx-4090"]
    assert (doubled.gpu_id, doubled.memory_gb) == ("nvidia-rtx-4090-48gb", 48)
    assert (doubled.memory_bandwidth_gb_s, doubled.tdp_w) == (model.memory_bandwidth_gb_s, model.tdp_w)
    assert doubled.msrp_usd is doubled.released_on is doubled.catalogue_key is None
    assert model.msrp_usd is not None


@pytest.mark.parametrize(
    ("title", "gpu_id"),
    [
        ("MSI GeForce RTX 4090 48GB Turbo", "nvidia-rtx-4090-48gb"),
        ("4090 48G", "nvidia-rtx-4090-48gb"),
        ("RTX 4090 GAMING OC 48 GB", "nvidia-rtx-4090-48gb"),
        ("RTX 4090 24GB", "nvidia-geforce-rtx-4090"),
        ("RTX 4090", "nvidia-geforce-rtx-4090"),
        ("RTX 4090 24GB with 48GB DDR5", "nvidia-geforce-rtx-4090"),
        ("RTX 4090 Ti 48GB", None),
        ("Biren BR100 OAM", "biren-br100"),
        ("BR100", "biren-br100"),
        ("Waterblock for Biren BR100", None),
        ("ABR1000 thing", None),
    ],
)
def test_titles_mean_an_added_card_by_its_words_and_its_memory(
    doubled: Gpu, unheard_of: Gpu, title: str, gpu_id: str | None
) -> None:
    assert Resolver.load(own=[doubled, unheard_of]).resolve(title).gpu_id == gpu_id


def test_an_added_card_is_matched_like_one_of_the_catalogue(unheard_of: Gpu) -> None:
    found = Resolver.load(own=[unheard_of]).resolve("Biren BR100 OAM")
    assert (found.status, found.candidates, found.rule) == ("matched", ("biren-br100",), "own")


def test_a_title_that_two_added_cards_share_means_neither(doubled: Gpu) -> None:
    other = new_gpu("NVIDIA", "GeForce RTX 4090 48GB", doubled, {})
    assert Resolver.load(own=[doubled, other]).resolve("RTX 4090 48GB").status == "ambiguous"


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({"memory_gb": "48"}, "needs its bandwidth: state memory_bandwidth_gb_s="),
        ({"memory_bandwidth_gb_s": "900"}, "needs its memory: state memory_gb="),
        ({"memory_gb": "-1"}, "memory_gb must be above 0"),
        ({"memory_gb": "much"}, "memory_gb cannot be 'much'"),
        ({"tdp_w": "45000"}, "tdp_w must be above 0 and at most 10,000"),
        ({"memory": "48"}, "a card has no memory; it has "),
        ({"segment": "toy"}, "segment must be one of consumer"),
        ({"released_on": "tomorrow"}, "released_on cannot be 'tomorrow'"),
    ],
)
def test_figures_that_are_missing_or_cannot_be_are_refused(stated: dict[str, str], reason: str) -> None:
    with pytest.raises(BadGpu, match=reason):
        new_gpu("Varde", "V1", None, stated)


def test_a_card_comes_back_as_it_was_kept_and_a_bad_one_stops_no_other(tmp_path: Path, doubled: Gpu) -> None:
    kept = OwnGpu(doubled, DAY, "the seller's page")
    GPUS.put(tmp_path, kept)
    file, entry = GPUS.file(tmp_path), GPUS.file(tmp_path).read_text("utf-8")
    bad = (("memory_gb = 48", "memory_gb = -4"), ("memory_gb", "memory"), ("source = ", "# "))
    file.write_text("\n".join([*(entry.replace(*change, 1) for change in bad), entry]), "utf-8")
    found, wrong = GPUS.usable(tmp_path)
    assert found == [kept]
    for error, reason in zip(
        wrong,
        ("memory_gb must be above 0", "there is no field 'memory' here", "missing required field `source`"),
        strict=True,
    ):
        assert reason in str(error)
        assert "correct this [[gpu]], or take it out" in str(error)


def test_a_card_of_the_catalogue_and_one_without_a_source_are_refused(doubled: Gpu) -> None:
    with pytest.raises(BadGpu, match="the catalogue already has 'nvidia-geforce-rtx-4090'"):
        OwnGpu(by_id()["nvidia-geforce-rtx-4090"], DAY, "a page")
    with pytest.raises(BadGpu, match="say where the figures of NVIDIA RTX 4090 48GB are from"):
        OwnGpu(doubled, DAY, " ")
