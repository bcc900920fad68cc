"""A real store: what it promises, machines that meet in it, and a publication in it.

On an S3 server, and on an emulator of Azure where a person has installed that.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import Objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.night import gather, sharing
from gpuledger.warehouse.paths import DataDir
from tests.command import rows, succeeds
from tests.flows.inprocess import context
from tests.support.store_promises import PROMISES, Promise
from tests.support.stores import azure_server, s3_server

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_server(promise: Promise, store: Objects, tmp_path: Path) -> None:
    promise(store, tmp_path)


def test_a_worker_hands_over_pages_and_asks_whether_they_changed(tmp_path: Path, address: str, store: Objects) -> None:
    """Two machines share nothing but the store: pages and batch come to the writer, its log of fetches to the worker."""
    writer, worker = DataDir(tmp_path / "writer", address), DataDir(tmp_path / "worker", address)
    night = replace(context(worker.root, 1, only=("ecb_fx",)), data=worker)
    with gather.reader(night) as reader:
        (reading,) = gather.readings(night)
        batch = reader.read_source(reading)
    sharing.hand_over(worker, night.run_id, batch)
    taken = sharing.take_over(writer, night.run_id, "ecb_fx")
    assert taken is not None
    assert taken.rows == batch.rows != []
    mine, theirs = Archive(writer.snapshots, store), Archive(worker.snapshots)
    assert list(mine.history("ecb_fx")) == list(theirs.history("ecb_fx")) != []
    assert mine.verify() == []
    shutil.rmtree(worker.root)
    sharing.lend(writer, "ecb_fx")
    sharing.begin_reading(worker, "ecb_fx")
    assert list(Archive(worker.snapshots).history("ecb_fx")) == list(mine.history("ecb_fx"))
    sharing.forget(writer, {one.sha256 for one in mine.history("ecb_fx")})
    assert list(store.listed("blobs/")) == list(store.listed("handover/")) == []


def test_a_publication_in_a_store_is_read_by_who_has_its_address(
    tmp_path: Path, address: str, server: dict[str, str], first_night: Path
) -> None:
    data = Path(shutil.copytree(first_night, tmp_path / "data", symlinks=True))
    succeeds("publish", f"{address}/public", data=data, env=server)
    pulled = succeeds("pull", f"{address}/public", data=tmp_path / "copy", env=server)
    assert "is not signed" in pulled.out
    assert rows(tmp_path / "copy", "SELECT count(*) > 50 FROM core.fx_rate") == [(True,)]
