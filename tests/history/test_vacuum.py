"""A vacuum removes what nothing needs, says what and how much, and leaves every number traceable and replayable."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.sample import server
from gpuledger.flows.history.replay import ReplayRefused
from gpuledger.flows.history.vacuum import vacuum
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from tests.command import gpuledger, rows, succeeds, tables
from tests.flows.inprocess import copy_of_the_site, refresh
from tests.history.replays import context, replayed

ONLY = ("ecb_fx", "gpu_wiki_cloud")


@pytest.fixture(scope="module")
def years(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three nights on which a page changed in nothing but a remark: no row needs what came on the second."""
    folder = tmp_path_factory.mktemp("years")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_SITE", copy_of_the_site(folder / "site"))
        for night in (1, 2, 3):
            refresh(folder / "data", night, only=ONLY)
            page = folder / "site" / "gpu_wiki_cloud" / "sample" / "night1" / "wiki" / "GPU.html"
            page.write_text(page.read_text(encoding="utf-8") + f"<!-- {night} -->", encoding="utf-8")
    return folder / "data"


@pytest.fixture
def data(years: Path, tmp_path: Path) -> Path:
    """These nights in a folder of the test's own."""
    return Path(shutil.copytree(years, tmp_path / "data", symlinks=True))


def swept(data: Path, *, days: int = 0, dry_run: bool = False) -> dict[str, tuple[int, int]]:
    run = context(data)
    settings = replace(run.settings, keep_days=days, keep_versions=2)
    return {r.what: (r.count, r.size_bytes) for r in vacuum(replace(run, settings=settings), dry_run=dry_run)}


def files(data: Path) -> dict[str, int]:
    kept = (path for path in data.rglob("*") if path.is_file() and path.name not in (".lock", "writer.lock"))
    return {str(path.relative_to(data)): path.stat().st_size for path in kept}


def test_a_dry_run_changes_nothing_and_says_what_would_go(data: Path) -> None:
    before = files(data)
    said = swept(data, dry_run=True)
    assert files(data) == before
    assert said["versions"][0] == 1
    assert said["versions"][1] > 100_000
    assert said["pages of the archive"][0] == 1, "the page of the second night; the newest of an address stays"
    assert said["rows of ops.model_build"][0] > 0
    assert {count for count, _ in swept(data, days=30, dry_run=True).values()} <= {0, 1}, (
        "thirty days keep three nights"
    )


def test_what_nothing_needs_goes_and_every_number_stays_traceable_and_replayable(data: Path, tmp_path: Path) -> None:
    before, pages = tables(data), Archive(data / "snapshots").pages()
    said = swept(data, dry_run=True)
    with reader(DataDir(data)) as con:
        done = swept(data)
        assert con.execute("SELECT count(*) FROM core.cloud_offer_history").fetchone() != (0,), (
            "a reader keeps its version"
        )
    assert {what: count for what, (count, _) in done.items()}.items() >= {
        what: count for what, (count, _) in said.items() if what != "versions"
    }.items()
    assert tables(data) == before
    assert len(list((data / "versions").iterdir())) == 2
    archive = Archive(data / "snapshots")
    assert len(archive.pages()) == len(pages) - 1
    assert archive.verify() == []
    traced = rows(
        data,
        """SELECT DISTINCT schema_name || '.' || table_name FROM duckdb_columns()
           WHERE column_name = 'snapshot_sha256' AND NOT internal AND schema_name IN ('core', 'mart', 'ops')""",
    )
    assert len(traced) > 5
    for (table,) in traced:
        if table != "mart.model_fit":
            for (sha,) in rows(data, f"SELECT DISTINCT snapshot_sha256 FROM {table} WHERE snapshot_sha256 IS NOT NULL"):
                assert archive.content_of(sha)
    assert DataDir(data).baseline.exists()
    replayed(data, tmp_path / "again")
    assert tables(tmp_path / "again") == before
    with pytest.raises(ReplayRefused, match="a vacuum forgot their pages"):
        replayed(data, tmp_path / "again", until=server.clock(1))


def test_nights_after_a_vacuum_replay_from_its_baseline(data: Path, tmp_path: Path) -> None:
    swept(data)
    refresh(data, 3, only=ONLY)
    newest = "run_id = (SELECT max(run_id) FROM ops.run) AND source = 'ecb_fx'"
    assert rows(data, f"SELECT status FROM ops.source_run WHERE {newest}") == [("unchanged",)], "its account was kept"
    replayed(data, tmp_path / "again")
    assert tables(tmp_path / "again") == tables(data)


def test_an_archive_that_cannot_be_replayed_is_not_pruned(data: Path) -> None:
    ((sha,), *_) = rows(data, "SELECT DISTINCT snapshot_sha256 FROM core.fx_rate")
    blob = data / "snapshots" / "blobs" / sha[:2] / f"{sha}.gz"
    blob.write_bytes(b"")
    before = files(data / "snapshots")
    with pytest.raises(ReplayRefused, match=sha):
        swept(data)
    assert files(data / "snapshots") == before
    assert not (data / "state" / "vacuum").exists()


def test_the_command_says_what_it_removed_and_refuses_what_would_hurt_a_reader(data: Path, tmp_path: Path) -> None:
    outcome = gpuledger("vacuum", "--keep-versions", "1", data=data)
    assert (outcome.status, outcome.out) == (2, "")
    assert "keep_versions must be a number from 2" in outcome.err
    outcome = succeeds("vacuum", "--keep-versions", "2", "--dry-run", data=data)
    assert "would remove" in outcome.out
    assert gpuledger("vacuum", data=tmp_path / "nothing").status == 1
