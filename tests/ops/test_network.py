"""What leaves the machine: no look-up and no connection but to sources and notification targets, no telemetry of any
library; and secrets of the environment, which reach their targets and stand nowhere else.
"""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gpuledger.extract import source as sources
from tests.command import environment, tables
from tests.nights import Night
from tests.ops.receivers import webhook
from tests.support.prefect_home import prefect_home
from tests.support.served import Api, until

CREDENTIAL = "gpuledger:of-this-test"
IN_ENVIRONMENT, PASSWORD = "Qv7environment-path", "Zk9mail-password"
WATCHED = str(Path(__file__).with_name("watched.py"))


def calls(log: Path) -> list[tuple[str, str, bool]]:
    return [tuple(json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


def outside(log: Path) -> set[str]:
    """Names and addresses beyond this machine that were asked for."""
    return {host for _, host, is_here in calls(log) if not is_here}


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All files below, unpacked."""
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield path, gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


@contextmanager
def watched_server(log: Path, home: Path) -> Iterator[Api]:
    """The temporary server as `refresh` starts it, watched."""
    door = socket.create_server(("127.0.0.1", 0))
    process = subprocess.Popen(
        [sys.executable, WATCHED, str(log), "gpuledger.flows.prefect_.temporary", str(door.fileno())],
        env=environment({
            "PREFECT_HOME": str(home), "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_API_AUTH_STRING": CREDENTIAL,
        }), cwd=tempfile.gettempdir(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=[door.fileno()],
    )  # fmt: skip
    api = Api(f"http://127.0.0.1:{door.getsockname()[1]}/api", CREDENTIAL)
    door.close()
    until(api.answers, "the server answers")
    try:
        yield api
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=600)


def refresh(log: Path, data: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, WATCHED, str(log), "gpuledger.flows.cli", "refresh", *words, "--data-dir", str(data)],
        env=environment({"GPULEDGER_DELAY_S": "0", **env}), cwd=tempfile.gettempdir(), check=False, capture_output=True,
        text=True, timeout=600,
    )  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A night under Prefect that was watched, of which a webhook was told."""

    done: subprocess.CompletedProcess[str]
    posts: list[dict[str, Any]]
    data: Path
    home: Path
    logs: dict[str, Path]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, nights: dict[int, Night]) -> Told:
    """The sample's second night, of which it is told that a source changed its layout."""
    folder = tmp_path_factory.mktemp("told")
    data, home = nights[1].copy(folder / "data"), folder / "prefect"
    logs = {name: folder / f"{name}.log" for name in ("refresh", "server")}
    prefect_home(tmp_path_factory, home)
    with watched_server(logs["server"], home) as api, webhook() as hook:
        prefect = {
            "PREFECT_API_URL": api.url, "PREFECT_API_AUTH_STRING": CREDENTIAL, "PREFECT_HOME": str(home),
        }  # fmt: skip
        mail = f"mailto://robot:{PASSWORD}@127.0.0.1:9?from=robot@example.org&to=ops@example.org&mode=insecure"
        urls = hook.url.replace("a-secret-path", IN_ENVIRONMENT)
        only = [f"--only={name}" for name in ("bhphoto", "ecb_fx", "newegg")]
        done = refresh(
            logs["refresh"], data, "--sample", "--night", "2", *only, **prefect,
            GPULEDGER_NOTIFY_URLS=f"{urls}|{mail}", GPULEDGER_LOG_FORMAT="json",
        )  # fmt: skip
    return Told(done, hook.posts, data, home, logs)


@pytest.mark.slow
def test_a_night_on_the_sample_stays_on_the_machine(told: Told) -> None:
    assert told.done.returncode == 3, told.done.stderr
    # Both were really watched: the pages and the server are fetched over this machine's own network.
    assert len([call for call in calls(told.logs["refresh"]) if call[0] == "socket.connect"]) >= 10
    assert outside(told.logs["refresh"]) == set()
    assert outside(told.logs["server"]) == set()


def test_secrets_reach_their_targets_and_stand_nowhere_else(told: Told) -> None:
    assert [post["title"] for post in told.posts] == ["gpuledger: bhphoto has changed its layout"]
    said = told.done.stdout + told.done.stderr
    assert "could not be reached" in said  # the mail
    places = [(Path("its words"), said.encode()), *contents(told.data), *contents(told.home)]
    # The file itself is packed; its tables are looked at as they are read.
    places += [(Path(name), repr(rows).encode()) for name, rows in tables(told.data, "core", "mart", "ops").items()]
    assert len(places) > 100
    for place, content in places:
        for secret in (IN_ENVIRONMENT, PASSWORD, CREDENTIAL):
            assert secret.encode() not in content, place


def test_a_live_night_asks_for_its_sources_alone(tmp_path: Path) -> None:
    only = ("newegg", "ecb_fx")
    done = refresh(tmp_path / "log", tmp_path / "data", "--engine", "plain", *(f"--only={name}" for name in only))
    assert done.returncode == 1  # nothing can be reached, so nothing is published
    assert outside(tmp_path / "log") == {str(urlsplit(sources.get(name).start[0]).hostname) for name in only}
