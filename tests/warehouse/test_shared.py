"""One machine that publishes in a store, its readers, and who takes its place. In a folder; `tests/flows/test_store.py` has
the same with a real S3 server.
"""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import Objects, StoreError
from gpuledger.flows.night.sharing import send_all, writing
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from gpuledger.warehouse.shared import bring, head
from gpuledger.warehouse.shared.send import Diverged


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


def publish_run(data: DataDir, run_id: str) -> None:
    """What a refresh does with the warehouse, by the writer."""
    publish.heal(data)
    with publish.workspace(data, run_id) as (con, work):
        con.execute("INSERT INTO ops.run (run_id) VALUES (?)", [run_id])
        publish.publish(con, data, work, run_id)


def run(data: DataDir, run_id: str) -> None:
    with writing(data):
        publish_run(data, run_id)


def runs(data: DataDir) -> list[str]:
    return [run_id for (run_id,) in query(data, "SELECT run_id FROM ops.run ORDER BY run_id")[1]]


def test_a_lost_machine_is_replaced_by_one_that_begins_with_the_store(tmp_path: Path, address: str) -> None:
    a, b = machine(tmp_path, "a", address), machine(tmp_path, "b", address)
    (a.root / "inbox").mkdir(parents=True)
    (a.root / "inbox" / "quote.csv").write_text("title,price,currency\n")
    run(a, "1")
    run(b, "2")  # an empty folder: all that it goes on from is in the store
    assert runs(b) == ["1", "2"]
    assert (b.root / "inbox" / "quote.csv").read_text() == "title,price,currency\n"
    # The one that was lost comes back: it keeps what it has, and the store what the other published.
    run(a, "3")
    with pytest.raises(Diverged, match="holds what another machine published"):
        send_all(a)
    assert runs(a) == ["1", "3"]
    assert _seen(address)[1].published.run_id == "2"


def test_what_could_not_be_sent_is_sent_with_the_next_run(
    tmp_path: Path, address: str, store: Objects, caplog: pytest.LogCaptureFixture
) -> None:
    a = machine(tmp_path, "a", address)
    logging.getLogger("gpuledger").addHandler(caplog.handler)  # other tests end that it passes on what it hears
    caplog.set_level(logging.WARNING, logger="gpuledger")  # and that it hears warnings
    run(a, "1")
    (tmp_path / "store").rename(tmp_path / "away")
    (tmp_path / "store").write_text("no folder")
    run(a, "2")
    assert "what this run left is here, and not in the store yet" in caplog.text
    assert runs(a) == ["1", "2"]
    (tmp_path / "store").unlink()
    (tmp_path / "away").rename(tmp_path / "store")
    assert head.read_head(store).published.run_id == "1"
    run(a, "3")
    assert [one.run_id for one in head.read_head(store).versions] == ["1", "3"]


def test_a_folder_with_a_history_of_its_own_is_not_mixed_with_the_stores(tmp_path: Path, address: str) -> None:
    run(machine(tmp_path, "a", address), "1")
    own = replace(machine(tmp_path, "own", ""), store=address)
    run(replace(own, store=""), "mine")
    with pytest.raises(Diverged, match=r"^file://.*holds what another machine published"):
        send_all(own)
    with pytest.raises(Diverged, match="holds a warehouse of its own"):
        bring.pull(own, *_seen(address), 5)
    assert runs(own) == ["mine"]


def _seen(address: str) -> tuple[Objects, head.Head]:
    store = objects.store_at(address)
    assert store is not None
    return store, head.read_head(store)


def test_an_own_history_is_the_beginning_of_an_empty_store(tmp_path: Path, address: str) -> None:
    own = machine(tmp_path, "own", "")
    run(own, "1")
    run(replace(own, store=address), "2")
    reader = machine(tmp_path, "reader", "")
    bring.pull(reader, *_seen(address), 2)
    assert runs(reader) == ["1", "2"]


def test_what_people_add_goes_to_every_copy_and_what_they_take_away_goes_too(tmp_path: Path, address: str) -> None:
    a, reader = machine(tmp_path, "a", address), machine(tmp_path, "reader", "")
    own, changed = Path("models") / "own.toml", Path("models") / "changed.toml"
    (a.root / "models").mkdir(parents=True)
    for name in (own, changed):
        (a.root / name).write_text("parameters = 1\n")
    run(a, "1")
    bring.pull(reader, *_seen(address), 2)
    assert (reader.root / own).read_text() == "parameters = 1\n"
    (reader.root / changed).write_text("parameters = 3\n")  # changed here too
    for name in (own, changed):
        (a.root / name).write_text("parameters = 2\n")
    run(a, "2")
    bring.pull(reader, *_seen(address), 2)
    assert [(reader.root / name).read_text() for name in (own, changed)] == ["parameters = 2\n", "parameters = 3\n"]
    (a.root / own).unlink()
    run(a, "3")
    bring.pull(reader, *_seen(address), 2)
    assert not (reader.root / own).exists()


def test_a_reader_gets_a_verified_copy_and_nothing_of_a_damaged_one(
    tmp_path: Path, address: str, store: Objects
) -> None:
    a, reader = machine(tmp_path, "a", address), machine(tmp_path, "reader", address)
    run(a, "1")
    assert bring.pull(reader, *_seen(address), 2) is not None
    assert bring.pull(reader, *_seen(address), 2) is None, "it is there already"
    run(a, "2")
    published = head.read_head(store).published
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
    head.write(store, replace(head.read_head(store), files={path: head.File("0" * 64, 1)}))
    with pytest.raises(StoreError, match="which belongs to no warehouse"):
        run(machine(tmp_path, "b", address), "2")


def test_a_head_that_is_none_is_named_and_one_of_a_later_program_refused(address: str, store: Objects) -> None:
    store.write(head.KEY, b'{"format": 1}')
    with pytest.raises(StoreError, match=r"head.json is no head of a store \(KeyError"):
        head.read_head(store)
    store.delete([head.KEY])
    store.write(head.KEY, json.dumps({"format": head.FORMAT + 1}).encode())
    with pytest.raises(WarehouseError, match="upgrade this one"):
        head.read_head(store)


def test_old_versions_leave_the_store(tmp_path: Path, address: str, store: Objects) -> None:
    a = machine(tmp_path, "a", address)
    for number in range(4):
        run(a, str(number))
    assert [one.run_id for one in head.read_head(store).versions] == ["2", "3"]
    assert {one.key for one in store.listed("versions/")} == {one.key for one in head.read_head(store).versions}
