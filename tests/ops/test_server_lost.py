"""Which runs Prefect's server tries again, and how often. One that is killed in the middle of a run, or was never there:
published all the same, and said.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from prefect import flow
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

from gpuledger.flows.night.summary import Summary, can_help
from gpuledger.flows.prefect_ import deployments, temporary
from gpuledger.flows.prefect_.temporary import Server
from gpuledger.warehouse.ledger import SourceOutcome
from gpuledger.warehouse.paths import DataDir
from tests.command import arguments, environment, rows, succeeds
from tests.support.prefect_home import prefect_home
from tests.support.served import until

#: Each call to a server that is gone is tried anew for a while; a test need not wait for that.
IMPATIENT = {"PREFECT_CLIENT_MAX_RETRIES": "0"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A temporary Prefect server, with a home of its own; the last test kills it."""
    home = tmp_path_factory.mktemp("server") / "home"
    prefect_home(tmp_path_factory, home)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            patch.delenv(name)
        patch.setenv("PREFECT_HOME", str(home))
        patch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        with temporary.running() as found:
            found.wait()
            yield found


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("ConnectionFailed: https://shop.invalid: refused; check the network", True),
        ("ServerError: https://shop.invalid: 503; try later", True),
        ("LayoutChanged: file:quote.csv: no column; name it", False),
        ("NotFound: https://shop.invalid: 404; correct it", False),
    ],
)
def test_only_what_may_pass_is_tried_again(reason: str, helps: bool) -> None:
    summary = Summary(
        "r", [SourceOutcome("newegg", "failed", "LayoutChanged: x"), SourceOutcome("quotes", "failed", reason)]
    )
    assert can_help(summary) is helps
    assert not can_help(Summary("r", [SourceOutcome("newegg", "ok")], reason="no source is configured"))


@pytest.mark.slow
def test_a_run_says_how_often_it_is_tried_again(server: Server) -> None:
    """It is asked for inside the run, as the settings are read there; and taken back where another try cannot help."""
    tried = []

    @flow(persist_result=False)
    def failing(retries: int, gives_up: bool) -> None:
        deployments.set_retries(deployments.flow_run(), retries)
        tried.append(1)
        if gives_up:
            deployments.set_retries(deployments.flow_run(), 0)
        raise RuntimeError("as always")

    ours = {PREFECT_API_URL: server.api_url, PREFECT_API_AUTH_STRING: server.credential}
    for retries, gives_up, tries in ((2, False, 3), (0, False, 1), (2, True, 1)):
        tried.clear()
        with temporary_settings(ours), pytest.raises(RuntimeError, match="as always"):
            failing(retries, gives_up)
        assert len(tried) == tries, (retries, gives_up)


def test_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    env = {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_HOME": str(tmp_path / "home"), **IMPATIENT}
    outcome = succeeds("refresh", "--sample", "--night", 1, "--only", "ecb_fx", data=tmp_path / "data", env=env)
    assert "the Prefect server could not be used" in outcome.out
    assert rows(tmp_path / "data", "SELECT status FROM ops.run") == [("published",)]


@pytest.mark.slow
def test_a_server_killed_in_the_middle_of_a_run(server: Server, tmp_path: Path) -> None:
    data = DataDir(tmp_path / "data")
    run = subprocess.Popen(
        arguments("refresh", "--sample", "--night", 1, "--only", "ecb_fx", "--only", "newegg", data=data.root),
        env=environment({
            "PREFECT_API_URL": server.api_url, "PREFECT_API_AUTH_STRING": server.credential,
            "PREFECT_HOME": str(tmp_path / "home"), **IMPATIENT,
        }),
        cwd=tempfile.gettempdir(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(data.runs.exists, "the run begins")
    (process,) = [child for child in psutil.Process().children() if temporary.__name__ in child.cmdline()]
    process.kill()
    out, err = run.communicate(timeout=600)
    assert run.returncode == 0, err
    assert "the Prefect server was lost" in out
    assert "the warehouse is published" in out
    assert "Traceback" not in err
    assert rows(data.root, "SELECT status, engine FROM ops.run") == [("published", "prefect")]
