"""A Prefect server of our own, for one run or for as long as `serve` runs. It is never started if the user names a server.

If no server is named, Prefect by itself starts a temporary server on a port that it guesses, and leaves it running when its
process is killed. Ours answers on loopback only, and ends with its owner.

A person who can write to a Prefect server can run code here, as a deployment names code. So our server requires a credential
that is made anew at each start and lies in one file of this user, and own_origin.py keeps pages of other origins out.

A program that answers in place of the server can run code here as well, as Prefect loads what a server calls the result of a
run. So the process that starts the server owns the port, also while the server is dead. And a server that a note names is
used only if a process of the note's owner has the port.

Shown by tests/ops/test_doors.py: another user, another origin, the port of a server that was killed.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from gpuledger.extract import local_files
from gpuledger.extract.processes import child
from gpuledger.flows.prefect_.own_origin import OwnOrigin
from gpuledger.flows.prefect_.processes import end_with_owner
from gpuledger.warehouse import private

HOST = "127.0.0.1"
START_TIMEOUT_S = 120.0
_LOOK_EVERY_S = 0.2


class ServerFailed(Exception):
    """The Prefect server did not start. The message names its log."""


@dataclass(slots=True)
class Server:
    """A running server. `port` and `credential` stay the same over a second `start`, so that clients can go on."""

    state: Path
    has_services: bool
    port: int
    #: A user and a password, in the form that Prefect uses.
    credential: str = field(default_factory=lambda: f"gpuledger:{secrets.token_urlsafe(32)}", repr=False)
    process: child.Process | None = None
    _door: socket.socket | None = field(default=None, repr=False)
    _turning_away: threading.Thread | None = field(default=None, repr=False)

    @property
    def api_url(self) -> str:
        """Address of the API."""
        return f"http://{HOST}:{self.port}/api"

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start the server and wait until it answers. Raises ServerFailed if it does not answer."""
        private.make_folder(self.state)
        log = private.make_folder(self.state / "prefect") / "server.log"
        private.write(log, b"")
        self._end_turning_away()
        if self._door is None:
            self._door = _listening(self.port)
            self.port = self._door.getsockname()[1]
        # The server prints into its log, so that no full pipe can stop it.
        with log.open("wb") as out:
            process = self.process = child.start(
                "-m", "gpuledger.flows.prefect_.server", str(self._door.fileno()),
                stdin=child.DEVNULL, stdout=out, stderr=out, start_new_session=True, pass_fds=[self._door.fileno()],
                # Prefect reads settings in the current folder, so this is one that only this user can write to.
                cwd=log.parent,
                environment={
                    **os.environ, **_environment(self.has_services), "PREFECT_SERVER_API_AUTH_STRING": self.credential
                },
            )  # fmt: skip
        self._turning_away = threading.Thread(
            target=self._turn_away, args=(process, self._door), name="turning away", daemon=True
        )
        self._turning_away.start()
        # This request waits at the door until the server is there. If the server ended, the request is turned away.
        if not answers(self.api_url, START_TIMEOUT_S):
            self.stop()
            raise ServerFailed(f"the embedded Prefect server did not start; its own words are in {log}")

    def stop(self) -> None:
        """End the server. Its database stays intact."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except child.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._end_turning_away()
        if self._door is not None:
            self._door.close()
            self._door = None

    def _end_turning_away(self) -> None:
        """Stop turning clients away, once the process has ended, so that the next process gets them."""
        self.process = None
        if self._turning_away is not None:
            self._turning_away.join()
            self._turning_away = None

    def _turn_away(self, process: child.Process, door: socket.socket) -> None:
        """When the process has ended, turn its clients away at once, until another is started or the server is stopped."""
        process.wait()
        door.settimeout(_LOOK_EVERY_S)
        while self.process is process:
            with suppress(OSError):
                door.accept()[0].close()


@contextmanager
def running(state: Path, *, has_services: bool = False, port: int = 0) -> Iterator[Server]:
    """A server with its database in `state`, on `port`, or on a free port if that is 0 or in use.

    With `has_services` it schedules, reacts to events and shows the UI. Without, it only keeps the state of one run. If the
    server of a `serve` on the same folder answers, that server is used instead.
    """
    known = None if has_services else find(state)
    if known is not None:
        yield known
        return
    server = Server(state, has_services, port)
    note = _note(state)
    try:
        server.start()
        if has_services:
            content = {"port": server.port, "pid": os.getpid(), "credential": server.credential}
            private.write(note, json.dumps(content).encode())
        yield server
    finally:
        if has_services:
            note.unlink(missing_ok=True)
        server.stop()


def find(state: Path) -> Server | None:
    """The server that a `serve` on this folder runs; None if none answers."""
    try:
        note = local_files.loads(_note(state).read_text(encoding="utf-8"))
        server = Server(state, True, int(note["port"]), str(note["credential"]))
        is_ours = _has_port(int(note["pid"]), _note(state).stat().st_uid, server.port)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    return server if is_ours and answers(server.api_url) else None


def _has_port(pid: int, user: int, port: int) -> bool:
    """Whether this process belongs to this user and listens on the port.

    A `serve` that was killed leaves its note behind, while anybody may take its port.
    """
    try:
        process = psutil.Process(pid)
        listened = [c.laddr for c in process.net_connections("tcp4") if c.status == psutil.CONN_LISTEN]
        return process.uids().effective == user and (HOST, port) in listened
    except psutil.Error:
        return False


def _listening(port: int) -> socket.socket:
    """A socket that listens on the port, or on a free port if that is 0 or in use.

    It listens from the beginning, as another user could take over a socket that is only bound.
    """
    for port_to_try in (port, 0):
        door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind((HOST, port_to_try))
            door.listen()
        except OSError:
            door.close()
            if not port_to_try:
                raise
        else:
            break
    return door


def answers(api_url: str, timeout_s: float = 2.0) -> bool:
    """Whether a Prefect API answers there. An API that requires a password counts as answering."""
    scheme, _, host_and_path = api_url.partition("://")
    host, _, path = host_and_path.partition("/")
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
    """Variables that make the server start fast and keep to itself. `FINAL` drops what only a second app would need."""
    variables = {
        "PREFECT__SERVER_FINAL": "1",
        "PREFECT_UI_ENABLED": "true" if has_services else "false",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }
    return variables if has_services else {**variables, "PREFECT__SERVER_EPHEMERAL": "1"}


def _serve(door: socket.socket) -> None:
    """Serve on this listening socket until a signal comes or the owner ends."""
    end_with_owner()
    credential = os.environ.get("PREFECT_SERVER_API_AUTH_STRING")
    if not credential:
        raise SystemExit("PREFECT_SERVER_API_AUTH_STRING must be set: without a credential anybody could run code here")
    os.umask(0o077)
    if home := os.environ.get("PREFECT_HOME"):
        private.make_folder(Path(home))
        for database in Path(home).glob("prefect.db*"):
            database.chmod(private.FILE_MODE)  # an earlier version of this program left it readable for others
    port = door.getsockname()[1]
    os.environ["PREFECT_API_URL"] = f"http://{HOST}:{port}/api"
    os.environ["PREFECT_API_AUTH_STRING"] = credential
    os.environ["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] = f"http://{HOST}:{port}"
    import uvicorn
    from prefect.server.api.server import create_app

    app = OwnOrigin(create_app(), f"{HOST}:{port}")
    # No proxy is in front, so the server ignores what a client claims about forwarding.
    config = uvicorn.Config(app, log_level="error", lifespan="on", access_log=False, proxy_headers=False)
    uvicorn.Server(config).run(sockets=[door])


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
