"""Machines that share a store and no disk: each goes on from what the other left, and who began before another published
publishes nothing. In a folder; `tests/flows/test_store.py` has the same with a real S3 server.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.extract.archive import objects, sealed
from gpuledger.extract.archive.objects import Objects, StoreError, Version
from gpuledger.flows.night.sharing import writing
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from gpuledger.warehouse.shared import bring, head
from gpuledger.warehouse.shared.bring import Diverged
from gpuledger.warehouse.shared.head import Superseded


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"file://{tmp_path / 'store'}"


@pytest.fixture
def store(address: str) -> Objects:
    found = objects.store_at(address)
    assert found is not None
    return found


def machine(tmp_path: Path, name: str, address: str) -> DataDir:
    return DataDir(tmp_path / name, address)


def publish_run(data: DataDir, run_id: str, keep_versions: int = publish.KEEP_VERSIONS) -> None:
    """What a refresh does with the warehouse, by the writer."""
    publish.heal(data)
    with publish.workspace(data, run_id) as (con, work):
        con.execute("INSERT INTO ops.run (run_id) VALUES (?)", [run_id])
        publish.publish(con, data, work, run_id, keep_versions)


def run(data: DataDir, run_id: str, keep_versions: int = publish.KEEP_VERSIONS) -> None:
    with writing(data):
        publish_run(data, run_id, keep_versions)


def runs(data: DataDir) -> list[str]:
    return [run_id for (run_id,) in query(data, "SELECT run_id FROM ops.run ORDER BY run_id")[1]]


def test_each_machine_goes_on_from_what_the_other_published(tmp_path: Path, address: str) -> None:
    a, b = machine(tmp_path, "a", address), machine(tmp_path, "b", address)
    run(a, "1")
    run(b, "2")
    run(a, "3")
    assert runs(a) == ["1", "2", "3"]
    assert runs(b) == ["1", "2"]


def test_who_began_before_another_published_publishes_nothing(tmp_path: Path, address: str, store: Objects) -> None:
    a, b = machine(tmp_path, "a", address), machine(tmp_path, "b", address)
    run(a, "1")
    (a.root / "inbox").mkdir()
    with writing(a):
        run(b, "2")
        (a.root / "inbox" / "quote.csv").write_text("title,price,currency\n")
        with pytest.raises(Superseded, match="another machine has published here since this run began"):
            publish_run(a, "late")
    assert runs(a) == ["1"], "what its own readers see is what was published before"
    published = head.read_head(store).head.published
    assert published.run_id == "2"
    assert [one.key for one in store.listed("versions/")] == [one.key for one in head.read_head(store).head.versions]
    run(a, "3")
    assert runs(a) == ["1", "2", "3"]
    assert "inbox/quote.csv" in head.read_head(store).head.files, "what a person added meanwhile is not lost"


def test_who_only_sends_files_keeps_no_other_from_publishing(tmp_path: Path, address: str, store: Objects) -> None:
    """A run that failed on another machine, or that notes how it ended after its publish."""
    a, b = machine(tmp_path, "a", address), machine(tmp_path, "b", address)
    run(a, "1")
    with writing(a):
        with writing(b):
            sealed.append(b.runs, {"event": "start", "run_id": "of b"})
        sealed.append(a.runs, {"event": "start", "run_id": "of a"})
        publish_run(a, "2")
    run(b, "3")
    assert runs(b) == ["1", "2", "3"]
    assert sorted(b"of a" in line for line in sealed.lines(b.runs)) == [False, True]
    assert list(sealed.damage(sealed.lines(b.runs))) == []


class LosesAnswers:
    """A store that does what it is told, and whose answer to one write is lost and the write sent again."""

    def __init__(self, store: Objects) -> None:
        self._store = store
        self.address = store.address

    def get(self, key: str) -> tuple[bytes, Version] | None:
        return self._store.get(key)

    def replace(self, key: str, content: bytes, was: Version | None) -> Version | None:
        self._store.replace(key, content, was)
        return self._store.replace(key, content, was)


def test_a_write_that_was_sent_twice_is_no_other_machine(store: Objects) -> None:
    lossy = LosesAnswers(store)
    seen = head.read_head(store)
    mine = replace(seen.head, files={"inbox/a": head.File("0" * 64, 1)})
    seen = head.write(lossy, mine, seen)  # type: ignore[arg-type]
    assert seen.head == mine
    assert seen.version == head.read_head(store).version


def test_a_kill_between_the_store_and_the_folder_is_made_up_for(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = machine(tmp_path, "a", address), machine(tmp_path, "b", address)
    run(a, "1")

    class Crash(BaseException):
        """Stands for the end of the process."""

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(publish, "_point", crash)
        with pytest.raises(Crash):
            run(a, "2")
    run(b, "3")
    run(a, "4")
    assert runs(a) == ["1", "2", "3", "4"]


def test_a_folder_with_a_history_of_its_own_is_not_mixed_with_the_stores(tmp_path: Path, address: str) -> None:
    run(machine(tmp_path, "a", address), "1")
    own = machine(tmp_path, "own", "")
    run(own, "mine")
    with pytest.raises(Diverged, match=r"holds a warehouse of its own, and file://"):
        run(replace(own, store=address), "2")
    with pytest.raises(Diverged, match="holds a warehouse of its own"):
        bring.pull(replace(own, store=address), *_seen(address), 5)
    assert runs(own) == ["mine"]


def _seen(address: str) -> tuple[Objects, head.Head]:
    store = objects.store_at(address)
    assert store is not None
    return store, head.read_head(store).head


def test_an_own_history_is_the_beginning_of_an_empty_store(tmp_path: Path, address: str) -> None:
    own = machine(tmp_path, "own", "")
    run(own, "1")
    run(replace(own, store=address), "2")
    b = machine(tmp_path, "b", address)
    run(b, "3")
    assert runs(b) == ["1", "2", "3"]


def test_what_people_add_goes_to_every_machine_and_what_they_take_away_goes_too(tmp_path: Path, address: str) -> None:
    a, b = machine(tmp_path, "a", address), machine(tmp_path, "b", address)
    quote = Path("inbox") / "quote.csv"
    (a.root / "inbox").mkdir(parents=True)
    (a.root / quote).write_text("title,price,currency\n")
    run(a, "1")
    run(b, "2")
    assert (b.root / quote).read_text() == "title,price,currency\n"
    (b.root / quote).write_text("title,price,currency\nRTX 4090,1500,USD\n")  # changed here
    (a.root / "models").mkdir()
    (a.root / "models" / "own.toml").write_text("parameters = 1\n")  # added there
    run(a, "3")
    run(b, "4")
    assert "RTX 4090" in (b.root / quote).read_text()
    assert (b.root / "models" / "own.toml").exists()
    (b.root / quote).unlink()
    run(b, "5")
    run(a, "6")
    assert not (a.root / quote).exists()


def test_a_reader_gets_a_verified_copy_and_nothing_of_a_damaged_one(
    tmp_path: Path, address: str, store: Objects
) -> None:
    a, reader = machine(tmp_path, "a", address), machine(tmp_path, "reader", address)
    run(a, "1")
    assert bring.pull(reader, *_seen(address), 2) is not None
    assert bring.pull(reader, *_seen(address), 2) is None, "it is there already"
    run(a, "2")
    published = head.read_head(store).head.published
    path = tmp_path / "store" / published.key
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is not what was written: nothing is changed here"):
        bring.pull(reader, *_seen(address), 2)
    assert runs(reader) == ["1"]


@pytest.mark.parametrize("path", ["../outside", "state/base.duckdb", "inbox/../../x", "/etc/passwd", "inbox"])
def test_a_head_names_no_file_outside_of_a_warehouse(tmp_path: Path, address: str, store: Objects, path: str) -> None:
    run(machine(tmp_path, "a", address), "1")
    seen = head.read_head(store)
    head.write(store, replace(seen.head, files={path: head.File("0" * 64, 1)}), seen)
    with pytest.raises(StoreError, match="which belongs to no warehouse"):
        run(machine(tmp_path, "b", address), "2")


def test_a_head_that_is_none_is_named_and_one_of_a_later_program_refused(address: str, store: Objects) -> None:
    store.create(head.KEY, b'{"format": 1}')
    with pytest.raises(StoreError, match=r"head.json is no head of a store \(KeyError"):
        head.read_head(store)
    store.delete([head.KEY])
    store.create(head.KEY, json.dumps({"format": head.FORMAT + 1}).encode())
    with pytest.raises(WarehouseError, match="upgrade this one"):
        head.read_head(store)


def test_old_versions_leave_the_store(tmp_path: Path, address: str, store: Objects) -> None:
    a = machine(tmp_path, "a", address)
    for number in range(4):
        run(a, str(number), keep_versions=2)
    assert [one.run_id for one in head.read_head(store).head.versions] == ["2", "3"]
    assert {one.key for one in store.listed("versions/")} == {one.key for one in head.read_head(store).head.versions}
