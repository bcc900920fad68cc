"""Retention removes what nothing is traced to, and nothing else."""

from __future__ import annotations

from pathlib import Path

from extract.snapshots import Archive
from tests.command import gpuledger, rows
from tests.nights import Night


def test_every_page_that_a_row_names_stays(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[3].copy(tmp_path / "data")
    stale = data / "snapshots" / "parsed" / "newegg" / "v1-of-an-older-parser"
    stale.mkdir(parents=True)
    (stale / "page.jsonl.gz").write_bytes(b"old")
    before = sum(path.is_file() for path in (data / "snapshots" / "blobs").rglob("*"))
    answer = gpuledger("vacuum", "--keep-days", 0, data=data)
    assert answer.status == 0, answer.err
    assert not stale.exists()
    archive = Archive(data / "snapshots")
    named = rows(
        data, "SELECT DISTINCT snapshot_sha256 FROM core.price_span UNION SELECT snapshot_sha256 FROM core.fx_rate"
    )
    assert named
    for (sha256,) in named:
        assert archive.read(sha256)
    after = sum(path.is_file() for path in (data / "snapshots" / "blobs").rglob("*"))
    assert after <= before
    assert gpuledger("refresh", "--sample", "--engine", "plain", "--night", 3, data=data).status == 3


def test_an_empty_folder_is_answered_with_one_line(tmp_path: Path) -> None:
    answer = gpuledger("vacuum", data=tmp_path)
    assert answer.status == 1
    assert "no warehouse" in answer.err
