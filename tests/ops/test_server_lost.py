"""A Prefect server that is killed in the middle of a run, or was never there: published all the same, and said."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from gpuledger.flows.prefect_ import temporary
from gpuledger.flows.prefect_.temporary import Server
from gpuledger.warehouse.paths import DataDir
from tests.command import arguments, environment, rows, succeeds
from tests.support.served import until

#: Each call to a server that is gone is tried anew for a while; a test need not wait for that.
IMPATIENT = {"PREFECT_CLIENT_MAX_RETRIES": "0"}


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


def test_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    env = {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_HOME": str(tmp_path / "home"), **IMPATIENT}
    outcome = succeeds("refresh", "--sample", "--night", 1, "--only", "ecb_fx", data=tmp_path / "data", env=env)
    assert "the Prefect server could not be used" in outcome.out
    assert rows(tmp_path / "data", "SELECT status FROM ops.run") == [("published",)]
