"""A machine that publishes in a real store, who takes its place when it is lost, and readers with verified copies.

On an S3 server, and on an emulator of Azure where a person has installed that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import Objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.flows.history import replay, vacuum
from gpuledger.flows.night import sharing
from gpuledger.flows.night.context import new_run_id
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import head
from tests.command import tables
from tests.flows.inprocess import context, read_with_shared_parsers
from tests.support.store_promises import PROMISES, Promise
from tests.support.stores import azure_server, s3_server

pytestmark = pytest.mark.slow
#: Sources that are read in a moment: prices, rates and a file of a person's.
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


def test_who_takes_a_lost_machines_place_makes_its_tables_and_makes_them_again(
    tmp_path: Path, address: str, store: Objects, server: dict[str, str]
) -> None:
    a, b, alone = tmp_path / "a", tmp_path / "b", tmp_path / "alone"
    for root in (a, alone):
        (root / "inbox").mkdir(parents=True)
        (root / "inbox" / "quote.csv").write_text("product,price,currency\nNVIDIA GeForce RTX 4090,1500,USD\n")
    refresh(a, address, 1)
    refresh(b, address, 2)  # an empty folder, as a is lost: all that it goes on from is in the store
    for night in (1, 2):
        refresh(alone, "", night)
    assert tables(b) == tables(alone)
    assert (b / "inbox" / "quote.csv").exists()

    # A machine that never read a page: the pages come out of the store.
    third = DataDir(tmp_path / "third", address)
    with sharing.writing(third):
        assert not list(third.snapshots.glob("blobs/*/*.gz"))
    again = replace(context(third.root, 2), data=third)
    summary = replay.replay(again, third, replay.runs_until(third, None), export=False)
    assert summary.published is not None
    assert tables(third.root) == tables(alone)
    archives = [Archive(DataDir(root).snapshots) for root in (b, alone)]
    pages = [{(one.url, one.sha256) for one in archive.history()} for archive in archives]
    assert pages[0] == pages[1]
    assert Archive(third.snapshots, store).verify() == []


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
    # Who begins there sees the same archive.
    b = DataDir(tmp_path / "b", address)
    with sharing.writing(b):
        pass
    assert list(Archive(b.snapshots, store).history()) == list(Archive(a.snapshots).history())
    assert Archive(b.snapshots, store).verify() == []


def page(content: bytes) -> Fetched:
    url = "https://www.ecb.europa.eu/old"
    return Fetched(
        url=url, final_url=url, status=200, headers={}, content=content, not_modified=False, attempts=1, elapsed_s=0.0,
        wire_bytes=len(content),
    )  # fmt: skip


def test_a_store_that_goes_away_takes_nothing_with_it(
    tmp_path: Path, address: str, store: Objects, scheme: str
) -> None:
    """The night is published here, says what is missing there, and the next one sends it."""
    a = DataDir(tmp_path / "a", address)
    refresh(a.root, address, 1)
    variable = {"s3": "AWS_ENDPOINT_URL", "az": "AZURE_STORAGE_ENDPOINT"}[scheme]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, "http://127.0.0.1:9")
        away = objects._Bucket(address, 1.0)
        patch.setattr(objects, "store_at", lambda _: away)
        summary = run(replace(context(a.root, 2, only=_SOURCES), data=a), read_with_shared_parsers)
    assert summary.published is not None
    assert (summary.reason or "").startswith(f"the store has not got this night: {address}: could not")
    archived = {one.sha256 for one in Archive(a.snapshots).history()}
    assert len(head.read_head(store).versions) == 1
    refresh(a.root, address, 3)
    with sharing.writing(other := DataDir(tmp_path / "b", address)):
        pass
    assert archived <= {one.sha256 for one in Archive(other.snapshots, store).history()}
    assert Archive(other.snapshots, store).verify() == []
    assert tables(other.root) == tables(a.root)
