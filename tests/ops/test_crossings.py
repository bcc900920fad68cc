"""A thing is said once, when it begins to be so."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.flows.telling.alerts import newly_true


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "told.json"


def test_once_a_crossing(path: Path) -> None:
    seen = [newly_true(path, {"watch:1": met}) for met in (False, True, True, False, True)]
    assert seen == [[], ["watch:1"], [], [], ["watch:1"]]


def test_what_cannot_be_told_changes_nothing(path: Path) -> None:
    seen = [newly_true(path, {"watch:1": met}) for met in (True, None, True, None, False, None, True)]
    assert seen == [["watch:1"], [], [], [], [], [], ["watch:1"]]


def test_what_is_over_can_begin_again(path: Path) -> None:
    assert newly_true(path, {"held:a 10": True}, ["held"]) == ["held:a 10"]
    assert newly_true(path, {}, ["held"]) == []
    assert newly_true(path, {"held:a 10": True}, ["held"]) == ["held:a 10"]


def test_what_was_not_looked_at_stays(path: Path) -> None:
    newly_true(path, {"layout:newegg": True, "run:failed": False}, ["run"])
    newly_true(path, {"run:failed": False}, ["run"])
    assert newly_true(path, {"layout:newegg": True}, ["run"]) == []


def test_without_a_listener_nothing_counts_as_said(path: Path) -> None:
    assert newly_true(None, {"watch:1": True}) == ["watch:1"]
    assert newly_true(path, {"watch:1": True}) == ["watch:1"]


def test_a_torn_file_says_things_again_rather_than_never(path: Path) -> None:
    newly_true(path, {"watch:1": True})
    path.write_text('{"watch:1": tr', encoding="utf-8")
    assert newly_true(path, {"watch:1": True}) == ["watch:1"]
