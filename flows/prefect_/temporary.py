"""Prefect's own server for one run: on loopback, with a credential that is made for the run, and gone with the run.

Prefect starts such a server by itself, but on a port that it guesses, which another program can take before it is bound,
and leaves it behind when the run is killed. So its application is started here: on a port that is held from the beginning,
and in a process that ends when the pipe to the run is closed, which the operating system does for a killed run too.

Shown by tests/ops/test_temporary.py.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gpuledger import child
from gpuledger.flows.prefect_ import api

_HOST = "127.0.0.1"
_START_S = 120.0
#: Seconds that the server has to write down what it knows before it is killed.
_STOP_S = 5.0


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started. It answers after `wait`."""

    api_url: str
    #: A user and a password, in the form that Prefect uses.
    credential: str = field(repr=False)

    def wait(self) -> None:
        """Wait until it answers. Raises ConnectionError if it ends without an answer."""
        if not api.answers(self.api_url, _START_S):
            raise ConnectionError("Prefect's temporary server did not start; `prefect server start` may say why")


@contextmanager
def running() -> Iterator[Server]:
    """A server for the block, with its database in PREFECT_HOME. It starts beside the block until `Server.wait`."""
    credential = f"gpuledger:{secrets.token_urlsafe(32)}"
    # It listens already here, so that nobody else can have the port, and who asks too early waits.
    with socket.create_server((_HOST, 0)) as listener:
        api_url = f"http://{_HOST}:{listener.getsockname()[1]}/api"
        process = child.start(
            "-m", __name__, str(listener.fileno()), stdout=child.DEVNULL, stderr=child.DEVNULL, start_new_session=True,
            pass_fds=[listener.fileno()],
            cwd="/",  # Prefect reads settings in the current folder
            environment={
                **os.environ, "PREFECT_API_URL": api_url, "PREFECT_UI_ENABLED": "false",
                "PREFECT_SERVER_API_AUTH_STRING": credential, "PREFECT_API_AUTH_STRING": credential,
                # As Prefect itself starts one: nothing that only a lasting server needs.
                "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1",
            },
        )  # fmt: skip
    try:
        yield Server(api_url, credential)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def _end_with_owner() -> None:
    """End this process when the pipe to the one that started it is closed."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_STOP_S)
    os.kill(os.getpid(), signal.SIGKILL)


def _serve(listener: socket.socket) -> None:
    """Serve Prefect's API on this listening socket until the owner ends."""
    threading.Thread(target=_end_with_owner, name="owner", daemon=True).start()
    import uvicorn
    from prefect.server.api.server import create_app

    config = uvicorn.Config(create_app(), log_level="error", lifespan="on", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
