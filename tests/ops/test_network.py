"""No look-up and no connection leaves the machine but to sources and notification targets: no telemetry of any library."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gpuledger.extract import source as sources
from tests.command import environment
from tests.nights import Night
from tests.ops.receivers import webhook
from tests.support.prefect_home import prefect_home
from tests.support.served import Api, until

CREDENTIAL = "gpuledger:of-this-test"
WATCHED = str(Path(__file__).with_name("watched.py"))


def calls(log: Path) -> list[tuple[str, str, bool]]:
    return [tuple(json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


def outside(log: Path) -> set[str]:
    """Names and addresses beyond this machine that were asked for."""
    return {host for _, host, is_here in calls(log) if not is_here}


@pytest.fixture
def server(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The embedded server as `refresh` and `serve` start it, watched."""
    prefect_home(tmp_path_factory, tmp_path / "prefect")
    door = socket.create_server(("127.0.0.1", 0))
    process = subprocess.Popen(
        [sys.executable, WATCHED, str(tmp_path / "server.log"), "gpuledger.flows.prefect_.server", str(door.fileno())],
        env=environment({
            "PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_API_AUTH_STRING": CREDENTIAL,
        }), cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[door.fileno()],
    )  # fmt: skip
    api = Api(f"http://127.0.0.1:{door.getsockname()[1]}/api", CREDENTIAL)
    door.close()
    until(api.answers, "the server answers")
    yield api
    process.terminate()
    process.wait(timeout=60)


def refresh(log: Path, data: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, WATCHED, str(log), "gpuledger.flows.cli", "refresh", *words, "--data-dir", str(data)],
        env=environment({"GPULEDGER_DELAY_S": "0", **env}), cwd=tempfile.gettempdir(), check=False, capture_output=True,
        text=True, timeout=170,
    )  # fmt: skip


@pytest.mark.slow
def test_a_night_on_the_sample_stays_on_the_machine(server: Api, nights: dict[int, Night], tmp_path: Path) -> None:
    log, data = tmp_path / "refresh.log", nights[1].copy(tmp_path / "data")
    with webhook() as hook:
        env = {
            "PREFECT_API_URL": server.url,
            "PREFECT_API_AUTH_STRING": CREDENTIAL,
            "PREFECT_HOME": str(tmp_path / "prefect"),
            "GPULEDGER_NOTIFY_URLS": hook.url,
        }
        only = [f"--only={name}" for name in ("bhphoto", "ecb_fx", "newegg")]  # one that changes its layout is told of
        done = refresh(log, data, "--sample", "--night", "2", *only, **env)
        assert done.returncode == 3, done.stderr
        assert hook.posts
    # Both were really watched: the pages and the server are fetched over this machine's own network.
    assert len([call for call in calls(log) if call[0] == "socket.connect"]) > 10
    assert outside(log) == set()
    assert outside(tmp_path / "server.log") == set()


def test_a_live_night_asks_for_its_sources_alone(tmp_path: Path) -> None:
    only = ("newegg", "ecb_fx")
    done = refresh(tmp_path / "log", tmp_path / "data", "--engine", "plain", *(f"--only={name}" for name in only))
    assert done.returncode == 1  # nothing can be reached, so nothing is published
    assert outside(tmp_path / "log") == {str(urlsplit(sources.get(name).start[0]).hostname) for name in only}
