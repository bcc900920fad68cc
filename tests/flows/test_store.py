"""Machines that share a real store and no disk: the tables of one machine, one writer, readers with verified copies.

On an S3 server, and on an emulator of Azure where a person has installed that.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from gpuledger.extract import objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.objects import Objects
from gpuledger.flows.history import replay, vacuum
from gpuledger.flows.night import sharing
from gpuledger.flows.night.context import new_run_id
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import head
from tests.command import environment, gpuledger, tables
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
    found = objects.of(address)
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
    summary = replay.replay(again, third, replay.runs_until(third, None), replay.Options(export=False))
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
    pulled = gpuledger("pull", address, data=tmp_path / "copy", env=server)
    assert pulled.status == 0, pulled.err
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
    assert head.read_head(store).head.epoch == 1
    assert all(one.key.startswith("log/1/") for one in store.listed("log/"))
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


def test_a_writer_that_was_stopped_beyond_its_lease_publishes_nothing(
    tmp_path: Path, address: str, store: Objects
) -> None:
    script = Path(__file__).parents[1] / "support" / "late_writer.py"
    late = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "a"), address, "1"], env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert late.stdout is not None
        assert late.stdout.readline() == "writing\n"
        os.kill(late.pid, signal.SIGSTOP)
        b = DataDir(tmp_path / "b", address)
        while (until := head.read_head(store).head.expires_at) is not None and until > datetime.now(UTC):
            time.sleep(0.1)
        with sharing.writing(b), publish.workspace(b, "next") as (con, work):
            publish.publish(con, b, work, "next")
        os.kill(late.pid, signal.SIGCONT)
        said, _ = late.communicate("go on\n", timeout=60)
    finally:
        late.kill()
    assert late.returncode == 1
    assert said.startswith(f"Superseded: {address}")
    published = head.read_head(store).head.published
    assert published is not None
    assert published.run_id == "next"
    assert len(list(store.listed("versions/"))) == 2, "what came too late lies there, and no reader gets it"


@dataclass
class _Shops:
    """Hosts on this machine that write down who asked for what, from when to when."""

    asked: list[tuple[str, str, float, float]] = field(default_factory=list)

    def run(self) -> ThreadingHTTPServer:
        asked = self.asked

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                began = time.monotonic()
                time.sleep(0.02)
                body = b"" if self.path == "/robots.txt" else b"<html><body>%s</body></html>" % (b"page " * 200)
                self.send_response(200)
                self.send_header("Content-Type", "text/plain" if not body else "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                host = self.headers["Host"].partition(":")[0]
                asked.append((host, self.headers["User-Agent"], began, time.monotonic()))

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


def test_a_host_is_asked_by_one_worker_at_a_time_and_a_dead_one_gives_it_back(address: str) -> None:
    shops = _Shops()
    server = shops.run()
    script = Path(__file__).parents[1] / "support" / "host_worker.py"
    hosts = [f"shop{number}.test" for number in range(3)]
    arguments = [sys.executable, str(script), address, str(server.server_port)]
    orders = [[f"worker{number}", *hosts[number:], *hosts[:number]] for number in range(3)]
    workers = [
        subprocess.Popen([*arguments, *order], env=environment(), text=True, stdout=subprocess.PIPE) for order in orders
    ]
    try:
        while not any(agent.startswith("worker0") for _, agent, _, _ in shops.asked):
            assert workers[0].poll() is None
            time.sleep(0.01)
        workers[0].kill()  # while it has its first host
        read = [worker.communicate(timeout=60)[0].split() for worker in workers[1:]]
    finally:
        for worker in workers:
            worker.kill()
        server.shutdown()
    assert [sorted(set(one)) for one in read] == [hosts, hosts]
    for host in hosts:
        requests = sorted((began, ended, agent) for name, agent, began, ended in shops.asked if name == host)
        assert len({agent for *_, agent in requests}) >= 2
        for before, after in pairwise(requests):
            # The server's own clock: both requests and the pause between them as a shop sees them.
            assert after[0] - before[1] > 0.09, (host, before, after)
