"""What a store promises, held by a folder; `tests/flows/test_store.py` holds real servers to the same."""

from __future__ import annotations

import json
import resource
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gpuledger import local_files
from gpuledger.extract.archive import objects, web
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.support.store_promises import PROMISES, Promise


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_folder(promise: Promise, tmp_path: Path) -> None:
    store = objects.store_at(f"file://{tmp_path / 'store'}")
    assert store is not None
    promise(store, tmp_path)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3://key:secret@bucket/prefix", "holds no credentials"),
        ("s3://bucket/prefix?secret=x", "holds no credentials and no options"),
        ("ftp://bucket/prefix", "is no address of a store"),
        ("s3://", "is no address of a store"),
        ("file://folder", "is no address of a store"),
        ("file:///folder/../other", "is no address of a store"),
        ("bucket/prefix", "is no address of a store"),
    ],
)
def test_what_is_no_address_is_refused(address: str, reason: str) -> None:
    with pytest.raises(objects.BadAddress, match=reason) as refused:
        objects.store_at(address)
    assert "secret@" not in str(refused.value)


def test_what_does_not_fit_is_named_and_what_was_there_stays(tmp_path: Path) -> None:
    """By the system's limit of a file's size, as of a full disk: neither names the file."""
    place = web.writable(str(tmp_path))
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for name, write in (("a", place.write), ("b", lambda key, content: local_files.write(tmp_path / key, content))):
        write(name, b"old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
        try:
            with pytest.raises(OSError, match=str(tmp_path / name)):
                write(name, bytes(2000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
        assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


#: A request: method and path.
Asked = tuple[str, str]


class _Empty(BaseHTTPRequestHandler):
    """Has nothing, and takes every write."""

    asked: list[Asked]

    def do_GET(self) -> None:
        self._answer(404)

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    def _answer(self, status: int) -> None:
        self.asked.append((self.command, self.path.replace("%2F", "/")))
        self.send_response(status)
        self.send_header("ETag", '"tag"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Asked]]:
    """A server that the environment names for every kind of store; what it was asked."""
    asked: list[Asked] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Empty,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    google = {"gcs_base_url": url, "disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    for name, value in {
        "AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret", "GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(google),
        "AZURE_STORAGE_ENDPOINT": f"{url}/account", "AZURE_STORAGE_ACCOUNT_NAME": "account",
        "AZURE_STORAGE_ACCOUNT_KEY": "a2V5", "AZURE_ALLOW_HTTP": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    yield asked
    server.shutdown()
    server.server_close()
    objects.store_at.cache_clear()


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("s3://prices/night", "/prices/night/head"),
        ("az://prices/night", "/account/prices/night/head"),
        ("gs://prices/night", "/prices/night/head"),
    ],
)
def test_an_address_names_bucket_or_container_then_the_prefix(address: str, path: str, empty: list[Asked]) -> None:
    store = objects.store_at(address)
    assert store.get("head") is None
    store.write("head", b"mine")
    assert empty == [("GET", path), ("PUT", path)]


def test_a_file_of_the_web_that_breaks_off_is_asked_for_again_and_a_proxy_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken_off_once(exchange: Exchange) -> None:
        if exchange.number > 1:
            return exchange.reply(200, b"nine byte")
        exchange.head(200, {"Content-Length": "9"})
        exchange.send(b"nine")
        raise ConnectionAbortedError

    with FaultyServer({"/file": broken_off_once}) as server:
        address = f"http://127.0.0.1:{server.port}"
        assert web.readable(address, 5).get("file", 9) == b"nine byte"
        assert server.paths() == ["/file", "/file"]
        server.asked.clear()
        with pytest.raises(objects.StoreError, match="could not be read: IncompleteRead"):
            web.readable(address, 0).get("file", 9)
        monkeypatch.setenv("http_proxy", "http://user:secret@127.0.0.1:1")
        with pytest.raises(
            objects.StoreError, match=r"through the proxy of the environment \(http_proxy\): Conn"
        ) as said:
            web.readable(address, 0).get("file")
        assert "secret" not in str(said.value)
