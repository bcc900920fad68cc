"""What several files of tests about the commands read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.nights import Night


@pytest.fixture(scope="session")
def data(nights: dict[int, Night]) -> Path:
    """The data directory after the second night. For reading alone; files of other nights have their own."""
    return nights[2].data


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and its address on the web."""
    folder = tmp_path / "public"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
