"""Machines that share a real store and no disk: the tables of one machine, one writer, readers with verified copies.

On an S3 server, and on an emulator of Azure where a person has installed that.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import Objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.flows.history import copies, replay, vacuum
from gpuledger.flows.night import sharing
from gpuledger.flows.night.context import new_run_id
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from gpuledger.warehouse.shared import head, send
from gpuledger.warehouse.shared.head import Superseded
from tests.command import environment, gpuledger, succeeds, tables
from tests.flows.inprocess import context, read_with_shared_parsers
from tests.support.store_promises import PROMISES, Promise
from tests.support.stores import azure_server, s3_server

pytestmark = pytest.mark.slow
#: Sources that are read in a moment: prices, rates and a file of a person's.
#: Fifty were run once, in three minutes.
PUBLISHES = 12
_SOURCES = ("ecb_fx", "newegg", "quotes")


@pytest.fixture(scope="module", params=["s3", "az"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(scheme: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    run_server = {"s3": s3_server, "az": azure_server}[scheme]
    with run_server(tmp_path_factory.mktemp(scheme)) as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield variables


@pytest.fixture
def address(scheme: str, server: dict[str, str], request: pytest.FixtureRequest) -> str:
    return f"{scheme}://bucket/{request.node.name.partition('[')[0]}/{abs(hash(request.node.name))}"


@pytest.fixture
def store(address: str) -> Objects:
    found = objects.store_at(address)
    assert found is not None
    return found


def refresh(root: Path, address: str, night: int) -> None:
    """A night of a machine with a folder of its own."""
    one = context(root, night, only=_SOURCES)
    summary = run(replace(one, data=DataDir(root, address)), read_with_shared_parsers)
    assert summary.published is not None


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_server(promise: Promise, store: Objects, tmp_path: Path) -> None:
    promise(store, tmp_path)


def test_two_machines_make_the_tables_of_one_and_a_third_makes_them_again(
    tmp_path: Path, address: str, store: Objects, server: dict[str, str]
) -> None:
    a, b, alone = tmp_path / "a", tmp_path / "b", tmp_path / "alone"
    for root in (a, alone):
        (root / "inbox").mkdir(parents=True)
        (root / "inbox" / "quote.csv").write_text("product,price,currency\nNVIDIA GeForce RTX 4090,1500,USD\n")
    refresh(a, address, 1)
    refresh(b, address, 2)  # an empty folder: all that it goes on from is in the store
    for night in (1, 2):
        refresh(alone, "", night)
    assert tables(b) == tables(alone)
    assert (b / "inbox" / "quote.csv").exists()

    # A machine that never read a page: the pages come out of the store.
    third = DataDir(tmp_path / "third", address)
    sharing.catch_up(third)
    assert not list(third.snapshots.glob("blobs/*/*.gz"))
    again = replace(context(third.root, 2), data=third)
    summary = replay.replay(again, third, replay.runs_until(third, None), export=False)
    assert summary.published is not None
    assert tables(third.root) == tables(alone)
    archives = [Archive(DataDir(root).snapshots) for root in (b, alone)]
    pages = [{(one.url, one.sha256) for one in archive.history()} for archive in archives]
    assert pages[0] == pages[1]
    assert Archive(third.snapshots, store).verify() == []

    # Readers with nothing but the address.
    env = {**server, "GPULEDGER_WAREHOUSE": address, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    asked = gpuledger("sql", "SELECT count(*) AS n FROM ops.run", "--format", "csv", env=env)
    assert (asked.status, asked.out, asked.err) == (0, "n\n3\n", ""), "two nights and the replay"
    pulled = succeeds("pull", address, data=tmp_path / "copy", env=server)
    assert "the sum is right" in pulled.out
    assert tables(tmp_path / "copy").keys() == tables(alone).keys()
    nowhere = dict.fromkeys(("AWS_ENDPOINT_URL", "AZURE_STORAGE_ENDPOINT"), "http://127.0.0.1:9")
    gone = gpuledger("sql", "SELECT 1 AS n", "--format", "csv", env={**env, **nowhere})
    assert (gone.status, gone.out) == (0, "n\n1\n")
    assert "answered from the copy" in gone.err


def test_a_vacuum_forgets_in_the_store_what_it_forgets_here(tmp_path: Path, address: str, store: Objects) -> None:
    a = DataDir(tmp_path / "a", address)
    night = replace(context(a.root, 1, only=("ecb_fx",)), data=a)
    Archive(a.snapshots).save("ecb_fx", page(b"once"), night.as_of - timedelta(days=2))
    Archive(a.snapshots).save("ecb_fx", page(b"and now"), night.as_of - timedelta(days=1))
    run(night, read_with_shared_parsers)
    before = {one.key for one in store.listed("blobs/")}
    short = replace(night, run_id=new_run_id(), settings=replace(night.settings, keep_days=0, keep_versions=2))
    removed = {one.what: one.count for one in vacuum.vacuum(short)}
    assert removed["pages of the archive"] == 1
    once = hashlib.sha256(b"once").hexdigest()
    assert before - {one.key for one in store.listed("blobs/")} == {
        f"blobs/{once[:2]}/{once}.gz",
        f"blobs/{once[:2]}/{once}.json",
    }
    # Another machine sees the same archive.
    b = DataDir(tmp_path / "b", address)
    sharing.catch_up(b)
    assert list(Archive(b.snapshots, store).history()) == list(Archive(a.snapshots).history())
    assert Archive(b.snapshots, store).verify() == []


def page(content: bytes) -> Fetched:
    url = "https://www.ecb.europa.eu/old"
    return Fetched(
        url=url, final_url=url, status=200, headers={}, content=content, not_modified=False, attempts=1, elapsed_s=0.0,
        wire_bytes=len(content),
    )  # fmt: skip


def test_of_three_writers_one_publishes_and_who_was_stopped_publishes_nothing(
    tmp_path: Path, address: str, store: Objects
) -> None:
    """Publishes by two writers while a third, which began before them, is stopped: none is mixed, none is lost."""
    script = Path(__file__).parents[1] / "support" / "late_writer.py"
    late = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "late"), address], env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    published: list[str] = []
    lost: list[str] = []

    def write(name: str) -> None:
        data = DataDir(tmp_path / name, address)
        number = 0
        while len(published) < PUBLISHES:
            run_id = f"{name}{number:03d}"
            try:
                with sharing.writing(data), publish.workspace(data, run_id) as (con, work):
                    con.execute("INSERT INTO ops.run (run_id) VALUES (?)", [run_id])
                    publish.publish(con, data, work, run_id)
                published.append(run_id)
            except Superseded:
                lost.append(run_id)
            number += 1

    try:
        assert late.stdout is not None
        assert late.stdout.readline() == "writing\n"
        os.kill(late.pid, signal.SIGSTOP)
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(write, ("a", "b")))
        os.kill(late.pid, signal.SIGCONT)
        said, _ = late.communicate("go on\n", timeout=60)
    finally:
        late.kill()
    assert late.returncode == 1
    assert said.startswith(f"Superseded: {address}: another machine has published here since")
    now = head.read_head(store).head
    assert [one.key for one in store.listed("versions/")] == sorted(one.key for one in now.versions)
    copies.pull(reader := DataDir(tmp_path / "reader"), address)
    there = {run_id for (run_id,) in query(reader, "SELECT run_id FROM ops.run")[1]}
    assert there == set(published), "of each run all or nothing"
    assert not there & {*lost, "late"}


def test_a_store_that_goes_away_takes_nothing_with_it(
    tmp_path: Path, address: str, store: Objects, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    refresh(a, address, 1)
    variable = {"s3": "AWS_ENDPOINT_URL", "az": "AZURE_STORAGE_ENDPOINT"}[scheme]
    with monkeypatch.context() as patch:
        patch.setenv(variable, "http://127.0.0.1:9")
        away = objects._Bucket(address, 1.0)

    def read(reader: Reader, readings: list[Reading]) -> list[Collected]:
        collected = read_with_shared_parsers(reader, readings)
        send._WRITERS[reader.context.data].store = away  # between reading and publishing
        return collected

    night = replace(context(a, 2, only=_SOURCES), data=DataDir(a, address))
    with pytest.raises(objects.StoreError, match="could not"):
        run(night, read)
    assert [one.run_id for one in head.read_head(store).head.versions] != [night.run_id]
    archived = {one.sha256 for one in Archive(DataDir(a).snapshots).history() if one.run_id == night.run_id}
    assert archived, "what was read is here"
    refresh(a, address, 3)
    sharing.catch_up(other := DataDir(b, address))
    assert archived <= {one.sha256 for one in Archive(other.snapshots, store).history()}
    assert Archive(other.snapshots, store).verify() == []
