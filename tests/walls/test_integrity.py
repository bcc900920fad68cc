"""Nothing that was changed on the disk is published or believed: it is named, and what is whole stands in its place."""

from __future__ import annotations

import filecmp
import json
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import duckdb
import pytest

from gpuledger.errors import CorruptSnapshot
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.source import get
from gpuledger.flows.checks.doctor import _deep, _records
from gpuledger.flows.history import replay
from gpuledger.flows.night import run_log
from gpuledger.warehouse import integrity, publish
from gpuledger.warehouse.bounded_query import user_query
from gpuledger.warehouse.errors import NotAWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query, reader
from tests.command import contents, gpuledger, succeeds
from tests.flows.inprocess import context, refresh
from tests.walls import damages

ONLY = ("ecb_fx", "newegg")
FLIPS = 40
#: Bytes of a block of DuckDB's.
BLOCK = 256 * 1024


@pytest.fixture(scope="module")
def nights(first_night: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nights of a shop and of exchange rates."""
    data = tmp_path_factory.mktemp("integrity") / "data"
    for copy in (data, data.parent / "first"):
        shutil.copytree(first_night, copy, symlinks=True)
    assert refresh(data, 2, only=ONLY).published is not None
    return data


@pytest.fixture
def data(nights: Path, tmp_path: Path) -> DataDir:
    shutil.copytree(nights, tmp_path / "data", symlinks=True)
    return DataDir(tmp_path / "data")


def flip(path: Path, seed: int) -> None:
    """Turn one bit over, wherever it is."""
    chance = random.Random(f"{path.name}{seed}")
    path.chmod(0o644)
    with path.open("r+b") as file:
        at = chance.randrange(path.stat().st_size)
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << chance.randrange(8)]))


#: Of the sample's whole files, each of which is copied and summed again and again, every flip once a week.
SOME_OR_ALL = pytest.mark.parametrize("flips", [10, pytest.param(FLIPS, marks=pytest.mark.slow_combination)])


# ── flips ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@SOME_OR_ALL
def test_flips_of_the_base_are_named_and_none_is_copied(data: DataDir, flips: int) -> None:
    good = data.base.read_bytes()
    for seed in range(flips):
        data.base.write_bytes(good)
        flip(data.base, seed)
        (said,) = publish.heal(data)
        assert str(data.base) in said
        assert data.base.read_bytes() == good, "the newest version has the same bytes"
        assert publish.heal(data) == []


@SOME_OR_ALL
def test_flips_of_versions_are_named_and_an_older_one_is_published_again(data: DataDir, flips: int) -> None:
    older, newest = publish.versions(data)
    good = newest.read_bytes()
    for seed in range(flips):
        newest.chmod(0o644)
        newest.write_bytes(good)
        publish._point(data, newest)
        shutil.copyfile(newest, data.base)
        integrity.note(data, newest, integrity.digest(newest))
        flip(newest, seed)
        assert integrity.is_whole(data, newest) is False
        (said,) = publish.restore(data)
        assert f"{integrity.name_of(older)} is published again, in the place of {integrity.name_of(newest)}" in said
        assert data.published.resolve() == older.resolve()
        assert data.base.read_bytes() == older.read_bytes()
        assert publish.restore(data) == []


def test_flips_of_the_logs_are_named_and_none_is_believed(data: DataDir) -> None:
    runs = repr(run_log.records(data))
    fetches = {name: [*Archive(data.snapshots).history(name)] for name in ONLY}
    sums = integrity.noted(data)
    logs: dict[Path, Callable[[], object]] = {
        data.runs: lambda: run_log.damage(data),
        data.checksums: lambda: integrity.damage(data),
        **{
            data.snapshots / "log" / f"{name}.jsonl": lambda name=name: Archive(data.snapshots).log(name).damage()  # type: ignore[misc]
            for name in ONLY
        },
    }
    for seed in range(FLIPS):
        path = [*logs][seed % len(logs)]
        good = path.read_bytes()
        flip(path, seed)
        named = logs[path]()
        if not named:
            # The end of a line: nothing that anybody reads.
            assert repr(run_log.records(data)) == runs
        assert all(one in fetches[name] for name in ONLY for one in Archive(data.snapshots).history(name))
        assert all(sums.get(name) == sha256 for name, sha256 in integrity.noted(data).items())
        path.write_bytes(good)


# ── what a damaged base does to a night, and to a reader ──────────────────────────────────────────────────────────────


def test_a_night_on_a_damaged_base_goes_on_from_the_newest_whole_version_and_says_so(data: DataDir) -> None:
    flip(data.base, 1)
    newest = publish.versions(data)[-1]
    flip(newest, 1)
    older = publish.versions(data)[0]
    summary = refresh(data.root, 2, only=ONLY)
    assert summary.published is not None
    assert integrity.name_of(older) in (summary.reason or "")
    assert "gpuledger replay" in (summary.reason or "")
    assert integrity.is_whole(data, summary.published)
    said = query(data, "SELECT message FROM ops.issue WHERE code = 'damaged_record' ORDER BY rowid")[1]
    assert [str(data.base) in message for (message,) in said] == [True, False]
    assert "published nights are lost: 2023-11-17 03:00 UTC" in said[1][0]
    with duckdb.connect(str(summary.published), read_only=True) as con:
        for (table,) in con.execute("SELECT schema_name || '.' || table_name FROM duckdb_tables()").fetchall():
            con.execute(f"SELECT * FROM {table}").fetchall()


def test_where_nothing_is_whole_nothing_is_published_and_the_remedy_is_said(data: DataDir) -> None:
    for path in (data.base, *publish.versions(data)):
        flip(path, 2)
    published = data.published.resolve()
    with pytest.raises(integrity.Damaged, match="gpuledger replay"):
        refresh(data.root, 2, only=ONLY)
    assert data.published.resolve() == published


def test_a_damaged_note_is_not_taken_for_a_damaged_base(data: DataDir) -> None:
    lines = data.checksums.read_bytes().splitlines(keepends=True)
    data.checksums.write_bytes(lines[0] + lines[1].replace(b"sha256", b"sha255"))
    assert publish.heal(data) == []
    assert data.base.read_bytes() == publish.versions(data)[-1].read_bytes()


def test_a_directory_of_an_older_program_has_no_sums_and_works(data: DataDir) -> None:
    data.checksums.unlink()
    assert publish.heal(data) == []
    summary = refresh(data.root, 2, only=ONLY)
    assert summary.published is not None
    assert integrity.is_whole(data, summary.published)


def test_a_block_with_a_wrong_sum_is_damage_wherever_it_lies(data: DataDir) -> None:
    """DuckDB has several classes for it, and for some blocks none."""
    newest = publish.versions(data)[-1]
    newest.chmod(0o644)
    content = newest.read_bytes()
    said = []
    for at in range(3 * 4096 + 100, min(len(content), 8 * BLOCK), BLOCK):
        newest.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        table = None
        try:
            with reader(data) as con:
                for (table,) in con.execute("SELECT schema_name || '.' || table_name FROM duckdb_tables()").fetchall():
                    con.execute(f"FROM {table}").fetchall()
        except NotAWarehouse as error:
            said.append(str(error))
            if table is not None:
                with pytest.raises(NotAWarehouse):
                    user_query(data, f"SELECT sum(hash(t)) FROM {table} t")
    assert len(said) >= 4
    assert any("is damaged" in one for one in said)
    assert any("gpuledger restore" in one for one in said)


def test_restore_and_doctor_as_a_person_calls_them(data: DataDir) -> None:
    assert "nothing to restore" in gpuledger("restore", data=data.root).out
    newest = publish.versions(data)[-1]
    flip(newest, 5)
    found = gpuledger("doctor", "--offline", "--deep", "--format", "json", data=data.root)
    named = [check for check in json.loads(found.out) if str(newest) in check["seen"] and check["grade"] == "failure"]
    assert "gpuledger restore" in named[0]["what to do"]
    done = succeeds("restore", data=data.root)
    assert "is published again" in done.out


def test_doctor_finds_nothing_where_nothing_is(data: DataDir) -> None:
    checks = [*_records(context(data.root, 2)), *_deep(context(data.root, 2))]
    assert {check.grade for check in checks} == {"ok"}


# ── replay ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _edit(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def _swap_hashes(data: DataDir) -> None:
    path = data.snapshots / "log" / "newegg.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    lines[0]["sha256"], lines[1]["sha256"] = lines[1]["sha256"], lines[0]["sha256"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _change_a_setting(data: DataDir) -> None:
    _edit(data.runs, b'"gate_max_move": ', b'"gate_max_move": 9')


def _lose_the_end(data: DataDir) -> None:
    lines = data.runs.read_bytes().splitlines(keepends=True)
    data.runs.write_bytes(b"".join(lines[: len(lines) // 2]))


#: Of a fetch whose line is lost: tests/history/test_replay.py.
EDITS = [_change_a_setting, _swap_hashes, _lose_the_end]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__.strip("_"))
def test_a_replay_of_edited_records_is_refused_with_the_place(
    data: DataDir, tmp_path: Path, edit: Callable[[DataDir], None]
) -> None:
    edit(data)
    run = replace(context(data.root, 2), data=DataDir(tmp_path / "again"), sample_night=None)
    with pytest.raises(WarehouseError, match=r"runs\.jsonl|newegg\.jsonl"):
        replay.replay(run, data, replay.runs_until(data, None))
    assert not run.data.published.exists()


def test_a_replay_believes_nothing_of_what_was_parsed(data: DataDir, tmp_path: Path) -> None:
    """Whoever edits a price there can compute its sum as well."""
    cache, archive, source = ParsedCache(data.snapshots / "parsed"), Archive(data.snapshots), get("newegg")
    for snapshot in archive.history("newegg"):
        cache.put(source, archive.page(snapshot), [])
    run = replace(context(data.root, 2), data=DataDir(tmp_path / "again"), sample_night=None)
    replay.replay(run, data, replay.runs_until(data, None))
    count = "SELECT count(*) FROM core.listing WHERE source = 'newegg'"
    assert query(run.data, count)[1] == query(data, count)[1] != [(0,)]


def test_a_changed_sidecar_is_named(data: DataDir) -> None:
    sidecar = next((data.snapshots / "blobs").rglob("*.json"))
    fields = json.loads(sidecar.read_bytes())
    sidecar.write_text(json.dumps({**fields, "url": "http://elsewhere.test/"}))
    (error,) = Archive(data.snapshots).verify()
    assert isinstance(error, CorruptSnapshot)
    assert str(sidecar) in str(error)


# ── a damage of any kind anywhere, and a command right after it ───────────────────────────────────────────────────────


_SAMPLE = ("--sample", "--engine", "plain", *(word for name in ONLY for word in ("--only", name)))
AFTER: tuple[tuple[str, ...], ...] = (
    ("restore",), ("doctor", "--deep", "--offline"), ("refresh", *_SAMPLE, "--night", "2"),
    ("vacuum", "--keep-versions", "2", "--keep-days", "1"), ("replay",), ("replay", "--skip-damaged"),
)  # fmt: skip
#: Damages, and those of them that `make test` has time for: one before a `restore`, one before a night.
DAMAGES, FEW = int(os.environ.get("DAMAGES", "28")), (0, 2)


@dataclass
class Before:
    """Two nights before a damage, and what is whole after a command."""

    nights: Path
    folder: Path
    _whole: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict)

    def given(self, words: tuple[str, ...], to: Path) -> tuple[tuple[str, ...], DataDir]:
        """The command as it is typed, and its data directory; what it reads lies below `to`."""
        shutil.copytree(self.nights, to / "data", symlinks=True)
        return words, DataDir(to / "data")

    @cached_property
    def published(self) -> list[dict[str, str]]:
        """Each of the nights."""
        return [contents(path) for path in publish.versions(DataDir(self.nights))]

    def whole(self, words: tuple[str, ...], to: Path) -> dict[str, str]:
        """What a command makes of whole files."""
        if words not in self._whole:
            typed, data = self.given(words, to)
            assert gpuledger(*typed, data=data.root).status == 0
            self._whole[words] = contents(data.published)
        return self._whole[words]


@pytest.fixture(scope="module")
def before(nights: Path, tmp_path_factory: pytest.TempPathFactory) -> Before:
    return Before(nights, tmp_path_factory.mktemp("damages"))


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.slow_combination] * (n not in FEW)) for n in range(DAMAGES)]
)
def test_a_command_after_a_damage_names_it_or_is_not_touched_by_it(before: Before, tmp_path: Path, seed: int) -> None:
    words, chance = AFTER[seed % len(AFTER)], random.Random(20261123 + seed)
    typed, data = before.given(words, tmp_path)
    found = damages.places(data)
    files = found[chance.choice(sorted(found))]
    damaged = chance.choice(files)
    kind = damages.damage(damaged, chance)
    outcome = gpuledger(*typed, data=data.root)
    case = f"{kind} of {damaged.relative_to(tmp_path)}, then {' '.join(words)}: {outcome}"
    assert outcome.status in (0, 1, 3), case
    if words == ("replay", "--skip-damaged") and outcome.status == 3:
        assert "left out" in outcome.out + outcome.err, case
        return

    def is_whole(path: Path) -> bool:
        try:
            found = contents(path)
            # The command on whole files is run only where it made something else than one of the nights.
            return found in before.published or found == before.whole(words, tmp_path / "whole")
        except duckdb.Error:
            return False

    if words[0] in ("restore", "refresh", "vacuum", "replay") and outcome.status == 0:
        assert filecmp.cmp(data.base, data.published.resolve(), shallow=False), case
    if words[0] == "doctor" and damaged in (data.base, *publish.versions(data)):
        assert outcome.status == 1, case
    if not is_whole(data.published):
        # Nothing was published, and what was damaged, if it is that file, was said to be.
        published = data.published.resolve()
        assert published == damaged.resolve() or not published.exists(), case
        assert outcome.status != 0, case


# ── an older state that was put back ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def three_nights(nights: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataDir]:
    """The directory after the first, the second and the third night, which nobody disturbed."""
    third = tmp_path_factory.mktemp("three") / "third"
    shutil.copytree(nights, third, symlinks=True)
    refresh(third, 3, only=ONLY)
    return {"first": DataDir(nights.parent / "first"), "second": DataDir(nights), "third": DataDir(third)}


@pytest.mark.parametrize("with_versions", [False, True])
def test_an_older_state_that_was_put_back_loses_nothing_without_a_word(
    three_nights: dict[str, DataDir], tmp_path: Path, with_versions: bool
) -> None:
    """A backup of `state/` alone, and one of everything but the archive."""
    undisturbed, disturbed, backup = three_nights["third"], DataDir(tmp_path / "two"), three_nights["first"].root
    shutil.copytree(three_nights["second"].root, disturbed.root, symlinks=True)
    for name in ("state", "versions") if with_versions else ("state",):
        shutil.rmtree(disturbed.root / name)
        shutil.copytree(backup / name, disturbed.root / name)
    if with_versions:
        disturbed.published.unlink()
        shutil.copy(backup / "gpuledger.duckdb", disturbed.published, follow_symlinks=False)
    found = [check for check in _deep(context(disturbed.root, 2)) if check.grade == "failure"]
    assert [check.name for check in found] == ["runs" if with_versions else "base"]
    (lost,) = [run.run_id for run in run_log.entries(disturbed) if run.as_of.day == 17]
    third = refresh(disturbed.root, 3, only=ONLY)
    status = dict(query(disturbed, "SELECT run_id, status FROM ops.run")[1])
    if with_versions:
        assert f"published nights are lost: 2023-11-17 03:00 UTC (run {lost}); `gpuledger replay`" in (
            third.reason or ""
        )
        assert status[lost] == "lost"
        assert gpuledger("replay", data=disturbed.root).status == 0
    else:
        assert "is an older one that somebody put back (it is base.aside now)" in (third.reason or "")
        assert status[lost] == "published"
    history = "SELECT * FROM core.price_history ORDER BY ALL"
    assert query(disturbed, history) == query(undisturbed, history)
    assert not [check for check in _deep(context(disturbed.root, 3)) if check.grade == "failure"]
