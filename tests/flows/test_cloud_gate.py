"""A cloud rate that a page got wrong: it reaches no decision, is on record, and goes the way of every held price."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract.sample import server
from gpuledger.flows.telling import alerts, run_shown
from gpuledger.transform.answers.trust.held import held
from gpuledger.warehouse.paths import DataDir
from tests.command import csv_files, gpuledger, rows
from tests.flows.inprocess import context, copy_of_the_site, refresh
from tests.history.replays import replayed

SOURCE = "gpu_wiki_cloud"
ONLY = (SOURCE, "ecb_fx")
OPEN = "SELECT price, confirmed_until IS NULL FROM core.cloud_offer_history WHERE instance = 'P3' AND valid_to IS NULL"
P3 = "SELECT gpu_hour_usd FROM mart.cloud_price WHERE instance = 'P3' AND pricing_model = 'on_demand'"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the sample's site, which is asked while these tests run."""
    folder = copy_of_the_site(tmp_path_factory.mktemp("cloud") / "site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_SITE", folder)
        yield folder


@pytest.fixture(scope="module")
def two_nights(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the sample's first night, and a second one that printed a rate without its point."""
    data = tmp_path_factory.mktemp("nights") / "data"
    refresh(data, 1, only=ONLY)
    page = site / "gpu_wiki_cloud/sample/night1/wiki/GPU.html"
    text = page.read_text(encoding="utf-8")
    assert text.count("$4.234") == 1
    page.write_text(text.replace("$4.234", "$42.347"), encoding="utf-8")
    refresh(data, 2, only=ONLY)
    return data


@pytest.fixture
def wrong(two_nights: Path, tmp_path: Path) -> Path:
    """These nights in a folder of the test's own."""
    return Path(shutil.copytree(two_nights, tmp_path / "data", symlinks=True))


def test_a_wrong_rate_is_held_and_reaches_no_decision(wrong: Path) -> None:
    assert rows(wrong, P3) == []
    assert (Decimal("4.234"), False) in rows(wrong, OPEN)
    files = csv_files(wrong / "exports")
    decisions = {name: text for name, text in files.items() if "held" not in name and "quarantine" not in name}
    assert decisions
    assert not [name for name, text in decisions.items() if b"42.347" in text]
    ((listing, reason),) = rows(wrong, "SELECT listing_id, reason FROM core.held_price")
    assert reason == "aws P3 1× V100 on_demand: 4.234 to 42.347 USD (+900%) at once"
    assert rows(wrong, "SELECT kind, reason FROM ops.quarantine WHERE reason LIKE 'price held%'") == [
        ("cloud_offer", f"price held: {reason}")
    ]
    left = f"SELECT parsed - loaded - quarantined - duplicate FROM ops.source_run WHERE source = '{SOURCE}'"
    assert rows(wrong, left) == [(0,), (0,)]
    told = alerts._held(context(wrong, 2))
    assert list(told) == [f"held:{listing} 42.3470"]
    assert f"{reason} (gate_max_move)" in told[f"held:{listing} 42.3470"]


def test_it_is_believed_when_it_is_seen_again_and_a_replay_comes_to_the_same(wrong: Path, tmp_path: Path) -> None:
    refresh(wrong, 2, only=ONLY)
    assert rows(wrong, P3) == [], "the same night again is no second sighting"
    refresh(wrong, 3, only=ONLY)
    assert rows(wrong, P3) == [(Decimal("42.347"),)]
    assert rows(wrong, "FROM core.held_price") == []
    assert [name for name, text in csv_files(wrong / "exports").items() if b"42.347" in text], "what the files had not"
    replayed(wrong, tmp_path / "again")
    history = "FROM core.cloud_offer_history ORDER BY ALL"
    assert rows(tmp_path / "again", history) == rows(wrong, history)


def test_a_person_lets_it_pass(wrong: Path) -> None:
    ((listing,),) = rows(wrong, "SELECT listing_id FROM core.held_price")
    shown = gpuledger("release", data=wrong)
    assert listing in shown.out, shown.err
    assert "gate_max_move" in shown.out, "the setting to change where the rule is too strict"
    assert list(run_shown._held(held(DataDir(wrong)))) == [
        "1 price is held by gate_max_move (move) until seen again: `gpuledger release` lists them"
    ]
    outcome = gpuledger("release", listing, "--reason", "read on the page", data=wrong)
    assert (outcome.status, outcome.err) == (0, "")
    assert f"{listing} (aws P3 1× V100 on_demand" in outcome.out
    refresh(wrong, 2, only=ONLY)
    assert rows(wrong, P3) == [(Decimal("42.347"),)]
