"""A dropped quote and an edited model are noticed once each, when they are all there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuledger.flows.prefect_.inbox import QUIET_S, Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "old.csv").write_text("a", encoding="utf-8")
    found = Folder(tmp_path, (".csv", ".xlsx"), "quotes")
    found.forget()
    return found


def test_what_was_there_at_the_start_is_no_news(folder: Folder) -> None:
    assert not folder.has_changed(0)
    assert not folder.has_changed(100)


def test_a_file_that_is_still_growing_is_waited_for(folder: Folder) -> None:
    quote = folder.path / "quote.CSV"
    quote.write_text("title,price\n", encoding="utf-8")
    assert not folder.has_changed(100)
    quote.write_text("title,price\nRTX 4090,1500\n", encoding="utf-8")
    assert not folder.has_changed(100 + QUIET_S)
    assert folder.has_changed(100 + 2 * QUIET_S)
    assert not folder.has_changed(200)


def test_an_edit_of_the_same_length_and_a_removal_are_changes(folder: Folder) -> None:
    old = folder.path / "old.csv"
    old.write_text("b", encoding="utf-8")
    os.utime(old, ns=(1, 1))
    assert not folder.has_changed(100)
    assert folder.has_changed(100 + QUIET_S)
    old.unlink()
    assert not folder.has_changed(200)
    assert folder.has_changed(200 + QUIET_S)


def test_one_file_is_watched_from_before_it_is_there(tmp_path: Path) -> None:
    settings = Folder(tmp_path / "gpuledger.toml", (".toml",), "models")
    settings.forget()
    settings.path.write_text("a = 1", encoding="utf-8")
    assert not settings.has_changed(100)
    assert settings.has_changed(100 + QUIET_S)
    settings.path.write_text("a = 12", encoding="utf-8")
    assert not settings.has_changed(200)
    assert settings.has_changed(200 + QUIET_S)


def test_other_files_and_an_absent_folder_say_nothing(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "notes.txt").write_text("x", encoding="utf-8")
    assert not folder.has_changed(100)
    assert not folder.has_changed(200)
    absent = Folder(tmp_path / "absent", (".csv",), "quotes")
    assert not absent.has_changed(100)


def test_what_was_undone_before_it_was_reported_is_no_change(folder: Folder) -> None:
    quote = folder.path / "slip.csv"
    quote.write_text("x", encoding="utf-8")
    assert not folder.has_changed(100)
    quote.unlink()
    assert not folder.has_changed(101)
    assert not folder.has_changed(200)
