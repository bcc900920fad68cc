"""Cards and rates of one's own: known to questions at once, in the tables after a run, and gone when they end."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from gpuledger import local_files
from gpuledger.flows.doors.asking.card_names import count_and_name, gpu_of, gpus_of
from gpuledger.flows.history.rebuild import rebuild
from gpuledger.warehouse.paths import DataDir
from tests.command import rows, succeeds
from tests.flows.inprocess import context, refresh
from tests.nights import Night


def said(*words: object, data: Path) -> str:
    outcome = succeeds(*words, data=data)
    return outcome.out


def test_a_card_of_ones_own_is_predicted_at_once_and_in_the_tables_after_a_rebuild(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    words = ["RTX 4090 48GB", "memory_gb=48", "--like", "RTX 4090", "--source", "the seller's page"]
    assert "NVIDIA RTX 4090 48GB (nvidia-rtx-4090-48gb)" in said("gpu", "add", *words, data=data)
    asked = ["predict", "--model", "qwen3-32b", "--precision", "Q8_0", "--format", "json", "--gpu"]
    plain, doubled = (json.loads(said(*asked, name, data=data)) for name in ("4090 24GB", "4090 48GB"))
    assert (plain["verdict"], doubled["verdict"]) == ("no", "fits")
    assert plain["decode"]["bound"] == doubled["decode"]["bound"]
    (listed,) = json.loads(said("gpu", "list", "--format", "json", data=data))
    assert (listed["memory_gb"], listed["figures_source"]) == (48, "the seller's page")
    rebuild(context(data, 2))
    found = rows(data, "SELECT gpu, figures_source FROM core.gpu WHERE added_on IS NOT NULL")
    assert found == [("NVIDIA RTX 4090 48GB", "the seller's page")]
    fits = rows(
        data,
        """SELECT gpu_id, fits, expected_tokens_per_s > 0 FROM fit_at(['Q8_0'], [4096], 1)
           WHERE model_id = 'qwen3-32b' AND gpu_id LIKE 'nvidia-%rtx-4090%' AND gpu_id NOT LIKE '%laptop%'
               AND gpu_id NOT LIKE '%-d' AND gpu_count = 1 ORDER BY gpu_id""",
    )
    assert ("nvidia-geforce-rtx-4090", False, True) in fits
    assert ("nvidia-rtx-4090-48gb", True, True) in fits
    assert "NVIDIA RTX 4090 48GB" in said("show", "4090 48GB", data=data)


def test_a_broken_file_among_the_added_cards_is_on_record(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    said("gpu", "add", "RTX 4090 48GB", "memory_gb=48", "--like", "RTX 4090", "--source", "a page", data=data)
    with (data / "decisions" / "gpus.toml").open("a") as file:
        file.write("[[gpu]]\n")
    rebuild(context(data, 2))
    ((source, message),) = rows(data, "SELECT source, message FROM ops.issue WHERE code = 'bad_gpu'")
    assert source == "gpus"
    assert "gpus.toml, line " in message
    assert "gpus.toml, line " in said("gpu", "list", data=data)


def test_a_negotiated_rate_is_weighed_with_the_published_ones_and_leaves_when_it_is_taken_out(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    own = ["provider,gpu_name,gpu_count,price,currency,pricing_model", "kettle,L40S,,0.50,eur,"]
    of_eight = "lambda,H100 SXM,8,13.60,USD,reserved_1y"
    local_files.write_text(data / "rates" / "rates.csv", "\n".join([*own, of_eight]))
    refresh(data, 2, only=["own_rates"])
    of_own = """SELECT provider, gpu_id, gpu_count, pricing_model, price, currency FROM mart.cloud_price
                WHERE source = 'own_rates'"""
    assert {(p, g, n, w, float(price), c) for p, g, n, w, price, c in rows(data, of_own)} == {
        ("lambda", "nvidia-h100-sxm5", 8, "reserved_1y", 13.6, "USD"),
        ("kettle", "nvidia-l40s", 1, "on_demand", 0.5, "EUR"),
    }
    bought = json.loads(
        said("buy", "--model", "llama-3-70b", "--precision", "fp16", "--limit", "0", "--format", "json", data=data)
    )
    ours = [row for row in bought["options"] if row["source"] == "own_rates"]
    assert [(row["way"], row["gpu_count"]) for row in ours] == [("reserved_1y", 8)]
    # A reservation is paid around the clock for its whole term: 13.60 × 24 × 365 × 3.
    assert float(ours[0]["total_usd"]) == pytest.approx(13.60 * 24 * 365 * 3)
    local_files.write_text(data / "rates" / "rates.csv", "\n".join([*own, "kettle,L4,1,free,USD,"]))
    refresh(data, 3, only=["own_rates"])
    assert [provider for provider, *_ in rows(data, of_own)] == ["kettle"]
    ((place,),) = rows(data, "SELECT place FROM ops.issue WHERE code = 'unreadable_rate'")
    assert place == "line 3"


# ── a card is named as drivers and shops write it; a rebuilt one is another card ──────────────────────────────────────


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
