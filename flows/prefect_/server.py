"""A Prefect server of our own: for one run, or for as long as `serve` runs. Never where the user has named one.

Prefect starts a temporary server by itself where none is named, on a port that it guesses, and leaves it running when its
process is killed. Ours binds its port before it says which one, answers on loopback only, and carries the guard's mark.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
START_TIMEOUT_S = 120.0


class ServerFailed(Exception):
    """The Prefect server did not start; the message says where its own words are."""


@dataclass(slots=True)
class Server:
    """A running server. `port` stays the same over a `restart`, so that whoever knows the address keeps it."""

    state: Path
    has_services: bool
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def api_url(self) -> str:
        """Address of the API."""
        return f"http://{HOST}:{self.port}/api"

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers. Raises ServerFailed where it does not."""
        log = self.state / "prefect" / "server.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gpuledger.flows.prefect_.server", str(self.port)],
                env={**os.environ, **_environment(self.has_services)},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=out, start_new_session=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        with self.process.stdout as words:
            line = words.readline()
        self.port = int(line) if line else self.port
        ends = time.monotonic() + START_TIMEOUT_S
        while not answers(self.api_url):
            if not self.is_alive or time.monotonic() > ends:
                self.stop()
                raise ServerFailed(f"the embedded Prefect server did not start; its own words are in {log}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it; its database is left whole."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


@contextmanager
def running(state: Path, *, has_services: bool = False, port: int = 0) -> Iterator[Server]:
    """A server with its database in `state`, on `port` or, where that is 0 or taken, on a free one.

    With `has_services` it schedules, reacts to events and shows the UI; without, it only keeps the state of one run, and
    where the server of a `serve` on the same folder answers, that one is used instead.
    """
    known = None if has_services else find(state)
    if known is not None:
        yield Server(state, True, known)
        return
    server = Server(state, has_services, port)
    note = _note(state)
    try:
        server.start()
        if has_services:
            note.write_text(json.dumps({"port": server.port, "pid": os.getpid()}))
        yield server
    finally:
        if has_services:
            note.unlink(missing_ok=True)
        server.stop()


def find(state: Path) -> int | None:
    """Port of the server that a `serve` on this folder runs, None where none answers."""
    try:
        port = int(json.loads(_note(state).read_text())["port"])
    except (OSError, ValueError, KeyError):
        return None
    return port if answers(f"http://{HOST}:{port}/api") else None


def answers(api_url: str, timeout_s: float = 2.0) -> bool:
    """Whether a Prefect API answers there; one that asks for a password does."""
    scheme, _, rest = api_url.partition("://")
    host, _, path = rest.partition("/")
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    connection = kind(host, timeout=timeout_s)
    try:
        connection.request("GET", f"/{path.rstrip('/')}/health")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _note(state: Path) -> Path:
    return state / "prefect-server.json"


def _environment(has_services: bool) -> dict[str, str]:
    """What makes the server start fast and keep to itself; `final` lets it drop what only a second app would need."""
    words = {"PREFECT__SERVER_FINAL": "1", "PREFECT_UI_ENABLED": "true" if has_services else "false"}
    return words if has_services else {**words, "PREFECT__SERVER_EPHEMERAL": "1"}


def _serve(port: int) -> None:
    """Bind, say which port it became on standard output, and serve until a signal comes."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError:
        bound.bind((HOST, 0))
    port = bound.getsockname()[1]
    os.environ["PREFECT_API_URL"] = f"http://{HOST}:{port}/api"
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    os.dup2(2, 1)  # whatever is printed later goes to the log, and no full pipe can stop it
    import uvicorn
    from prefect.server.api.server import create_app

    config = uvicorn.Config(create_app, factory=True, log_level="error", lifespan="on", access_log=False)
    uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
