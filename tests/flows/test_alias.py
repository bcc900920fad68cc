"""A person's pin of a title: kept with its reason, used by the next rebuild, and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpuledger.flows.cli import cli
from tests.command import gpuledger, rows
from tests.nights import Night

#: A title of the sample that leaves two cards open.
OPEN = "Halden Mini GeForce RTX 3060 PCI Express 4.0 Video Card H-3060M"
CARD = "nvidia-geforce-rtx-3060-12gb"


def run(data: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, [*words, "--data-dir", str(data)])


def meaning(data: Path) -> list[tuple[object, ...]]:
    return rows(data, f"SELECT gpu_id, match_status, match_rule FROM core.listing WHERE title = '{OPEN}'")


def test_a_pin_counts_from_the_next_rebuild_on_and_can_be_taken_back(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    assert meaning(data) == [(None, "ambiguous", "open")]
    offers = rows(data, f"SELECT offers FROM mart.gpu_price WHERE gpu_id = '{CARD}'")[0][0]

    assert run(data, "alias", "add", OPEN, CARD, "--reason", "the maker's page says 12 GB").exit_code == 0
    assert meaning(data)[0][1] == "ambiguous", "a pin changes nothing that is published"
    rebuilt = run(data, "rebuild")
    assert rebuilt.exit_code == 0, rebuilt.output
    assert meaning(data) == [(CARD, "matched", "pin")]
    assert rows(data, f"SELECT count(*) FROM core.unmatched_title WHERE title = '{OPEN}'") == [(0,)]
    assert rows(data, f"SELECT offers FROM mart.gpu_price WHERE gpu_id = '{CARD}'") == [(offers + 1,)]

    assert "0 to rebuild" in run(data, "rebuild").output, "the same pins: nothing is resolved again"
    assert run(data, "alias", "remove", OPEN).exit_code == 0
    assert run(data, "rebuild").exit_code == 0
    assert meaning(data) == [(None, "ambiguous", "open")]


def test_pins_are_listed_with_their_reasons_and_replaced_aloud(tmp_path: Path) -> None:
    run(tmp_path, "alias", "add", "Card X", CARD, "--reason", "first")
    again = run(tmp_path, "alias", "add", "Card  X ", "not_a_gpu", "--reason", "it is a poster")
    assert f"replaced the pin to {CARD}" in again.output
    run(tmp_path, "alias", "add", "Card X", CARD, "--reason", "there it is one", "--source", "newegg")
    listed = json.loads(run(tmp_path, "alias", "list", "--format", "json").output)
    assert [(pin["title"], pin["gpu_id"], pin["source"], pin["reason"]) for pin in listed] == [
        ("Card  X ", "not_a_gpu", None, "it is a poster"),
        ("Card X", CARD, "newegg", "there it is one"),
    ]


def test_resolve_reads_the_pins_of_the_data_directory(tmp_path: Path) -> None:
    run(tmp_path, "alias", "add", OPEN, CARD, "--reason", "the maker's page says 12 GB", "--source", "newegg")
    pinned = json.loads(run(tmp_path, "resolve", OPEN, "--source", "newegg", "--explain").output)
    assert (pinned["status"], pinned["gpu_id"], pinned["rule"]) == ("matched", CARD, "pin")
    assert json.loads(run(tmp_path, "resolve", OPEN).output)["status"] == "ambiguous", "it is a pin of one source"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "Card X", "nvidia-geforce-rtx-3060-12g", "--reason", "r"], f"near it are {CARD}"),
        (["add", "Card X", CARD, "--reason", " "], "needs a reason"),
        (["add", " ", CARD, "--reason", "r"], "a pin needs a title"),
        (["add", "Card X", CARD, "--reason", "r", "--source", "nowhere"], "no source is called nowhere"),
        (["remove", "Card X"], "no pin of 'Card X' for all sources; there are:\n  'Card Y' --source newegg"),
        (["remove", "Card Y"], "no pin of 'Card Y' for all sources"),
    ],
)
def test_bad_use_is_answered_and_nothing_is_written(tmp_path: Path, words: list[str], message: str) -> None:
    run(tmp_path, "alias", "add", "Card Y", CARD, "--reason", "r", "--source", "newegg")
    before = (tmp_path / "decisions" / "pins.toml").read_bytes()
    refused = run(tmp_path, "alias", *words)
    assert refused.exit_code == 2
    assert message in refused.output
    assert (tmp_path / "decisions" / "pins.toml").read_bytes() == before


def test_pins_that_were_edited_badly_stop_a_refresh_before_it_reads_anything(tmp_path: Path) -> None:
    file = tmp_path / "decisions" / "pins.toml"
    file.parent.mkdir()
    file.write_text('[[pin]]\ntitle = "Card X"\ngpu_id = "no-card"\npinned_on = 2026-11-20\nreason = "r"\n')
    refused = gpuledger("refresh", "--sample", "--engine", "plain", data=tmp_path)
    assert refused.status == 2
    assert refused.err.startswith(f"gpuledger: {file}, line 1: 'no-card'")
    assert refused.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["decisions"]
