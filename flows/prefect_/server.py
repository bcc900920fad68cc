"""A Prefect server of our own: for one run, or for as long as `serve` runs. Never where the user has named one.

Prefect starts a temporary server by itself where none is named, on a port that it guesses, and leaves it running when its
process is killed. Ours binds its port before it says which one, answers on loopback only, and ends with its owner.

Whoever can write to a Prefect server runs code: a deployment names it. So ours asks for a credential that is made anew at
each start and lies in one file of this user, and own_origin.py keeps pages of other origins out.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.flows.prefect_.own_origin import OPEN, TICKET, OwnOrigin
from gpuledger.flows.prefect_.processes import end_with_owner
from gpuledger.warehouse import private

HOST = "127.0.0.1"
START_TIMEOUT_S = 120.0


class ServerFailed(Exception):
    """The Prefect server did not start; the message says where its own words are."""


def _new_credential() -> str:
    # Prefect's own form, a user and a password.
    return f"gpuledger:{secrets.token_urlsafe(32)}"


@dataclass(slots=True)
class Server:
    """A running server. `port` and `credential` stay the same over a second `start`: whoever knows them keeps them."""

    state: Path
    has_services: bool
    port: int
    credential: str = field(default_factory=_new_credential, repr=False)
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
        private.make_folder(self.state)
        log = private.make_folder(self.state / "prefect") / "server.log"
        private.write(log, b"")
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gpuledger.flows.prefect_.server", str(self.port)],
                env={**os.environ, **_environment(self.has_services), "PREFECT_SERVER_API_AUTH_STRING": self.credential},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=out, start_new_session=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        with self.process.stdout as output:
            line = output.readline()
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
    """The server that a `serve` on this folder runs, None where none answers."""
    try:
        note = local_files.loads(_note(state).read_text(encoding="utf-8"))
        server = Server(state, True, int(note["port"]), str(note["credential"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return server if answers(server.api_url) else None


def link(server: Server) -> str:
    """A link that opens the UI once, within the hour. Raises ServerFailed where the server gives none."""
    basic = base64.b64encode(server.credential.encode()).decode()
    connection = http.client.HTTPConnection(HOST, server.port, timeout=10.0)
    try:
        connection.request("POST", TICKET, headers={"Authorization": f"Basic {basic}"})
        answer = connection.getresponse()
        ticket = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise ServerFailed(f"the Prefect server does not answer ({error})") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise ServerFailed(f"the Prefect server gave no link ({answer.status})")
    return f"http://{HOST}:{server.port}{OPEN}#{ticket}"


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
    variables = {
        "PREFECT__SERVER_FINAL": "1",
        "PREFECT_UI_ENABLED": "true" if has_services else "false",
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }
    return variables if has_services else {**variables, "PREFECT__SERVER_EPHEMERAL": "1"}


def _serve(port: int) -> None:
    """Bind, say which port it became on standard output, and serve until a signal comes or the owner ends."""
    end_with_owner()
    credential = os.environ.get("PREFECT_SERVER_API_AUTH_STRING")
    if not credential:
        raise SystemExit("PREFECT_SERVER_API_AUTH_STRING must be set: without a credential anybody could run code here")
    os.umask(0o077)
    if home := os.environ.get("PREFECT_HOME"):
        private.make_folder(Path(home))
        for database in Path(home).glob("prefect.db*"):
            database.chmod(private.FILE_MODE)  # of a program from before this line
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
    except OSError:
        bound.bind((HOST, 0))
    port = bound.getsockname()[1]
    os.environ["PREFECT_API_URL"] = f"http://{HOST}:{port}/api"
    os.environ["PREFECT_API_AUTH_STRING"] = credential
    os.environ["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] = f"http://{HOST}:{port}"
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    os.dup2(2, 1)  # whatever is printed later goes to the log, and no full pipe can stop it
    import uvicorn
    from prefect.server.api.server import create_app

    app = OwnOrigin(create_app(), f"{HOST}:{port}", credential)
    # Behind no proxy: what a client says of forwarding is not believed.
    config = uvicorn.Config(app, log_level="error", lifespan="on", access_log=False, proxy_headers=False)
    uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
