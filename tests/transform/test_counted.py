"""The counted models are those that counting gives."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gpuledger.transform.seeds import counted, models


def test_the_file_is_up_to_date() -> None:
    assert counted.is_fresh(), "run `make generated`"


def test_the_file_gives_what_counting_gives() -> None:
    assert dataclasses.asdict(counted.rows()) == dataclasses.asdict(models.rows())


def test_a_stale_file_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "counted.json"
    stale.write_text('{"version": "another", "model": [], "weights": [], "cache": []}', encoding="utf-8")
    monkeypatch.setattr(counted, "FILE", stale)
    anew = models.ModelRows([], [], [])
    monkeypatch.setattr(models, "rows", lambda own: anew)
    assert counted.rows() is anew
