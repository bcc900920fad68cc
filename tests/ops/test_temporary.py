"""The temporary Prefect server of a run: nobody else gets in, its credential is the run's, and a kill leaves nothing."""

from __future__ import annotations

import socket
import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from gpuledger.flows.prefect_ import api, temporary
from tests.command import arguments, environment
from tests.support.prefect_home import prefect_home
from tests.support.served import Api, until

ASKS = "/admin/version"


def server_of(run: psutil.Process) -> psutil.Process | None:
    return next((child for child in run.children() if temporary.__name__ in child.cmdline()), None)


@pytest.mark.slow
def test_a_run_that_is_killed(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    prefect_home(tmp_path_factory, tmp_path / "data" / "state" / "prefect")
    run = subprocess.Popen(
        arguments("refresh", "--sample", "--night", 1, data=tmp_path / "data"), env=environment(),
        cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        server = until(lambda: server_of(psutil.Process(run.pid)), "the server is started")
        assert server is not None
        (address,) = until(
            lambda: [c.laddr for c in server.net_connections("tcp") if c.status == psutil.CONN_LISTEN], "it listens"
        )
        assert address.ip == "127.0.0.1"
        # Nobody else can have the port, also before it answers.
        for host in ("127.0.0.1", "0.0.0.0"):
            with socket.socket() as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                with pytest.raises(OSError, match="in use"):
                    other.bind((host, address.port))
        url = f"http://127.0.0.1:{address.port}/api"
        assert api.status(url, ASKS, timeout_s=120) == 401
        credential = server.environ()["PREFECT_SERVER_API_AUTH_STRING"]
        assert Api(url, credential).get(ASKS)
        assert credential not in " ".join([*server.cmdline(), *psutil.Process(run.pid).environ().values()])
    finally:
        run.kill()
        run.wait()
    psutil.wait_procs([server], timeout=600)
    assert not server.is_running()


def test_a_credential_is_made_for_each_run_and_the_server_ends_with_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    seen = []
    for _ in range(2):
        with temporary.running() as own:
            server = server_of(psutil.Process())
            assert server is not None
            seen.append(own.credential)
        assert not server.is_running()
    assert len(set(seen)) == 2
    assert min(map(len, seen)) > 40
