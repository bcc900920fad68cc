"""Real workers on process work pools, by the commands of deploy/: a scheduled run whose sources are spread, and a rebuild
that its event starts.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command import ROOT, environment, rows
from tests.support.served import Api, until

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
CREDENTIAL = "gpuledger:of-this-test"


def command(service: str) -> list[str]:
    """What a service of the compose file runs."""
    found: list[str] = SERVICES[service]["command"]
    return found


class Machines:
    """The services of the compose file as processes of this machine, on a free port and a folder of the test's."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = str(free.getsockname()[1])
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []
        of_compose = {
            name: str(value) for name, value in SERVICES["writer"]["environment"].items() if "$" not in str(value)
        }
        self.env = environment({
            **of_compose,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PREFECT_API_URL": f"http://127.0.0.1:{self.port}/api", "PREFECT_HOME": str(folder / "prefect"),
            # What stands in compose.env; the one for the server is the server's alone, and does the others no good.
            "PREFECT_API_AUTH_STRING": CREDENTIAL, "PREFECT_SERVER_API_AUTH_STRING": CREDENTIAL,
            "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
            "GPULEDGER_DATA_DIR": str(folder / "data"), "GPULEDGER_SETTINGS_FILE": str(folder / "gpuledger.toml"),
            # The server plans every minute and a worker asks every 10 s; a test is less patient.
            "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "3", "PREFECT_WORKER_QUERY_SECONDS": "2",
            # One run at a time: the scheduler may write what it planned after the deployment was paused.
            "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_RUNS": "1", "PREFECT_SERVER_SERVICES_SCHEDULER_MAX_RUNS": "1",
            "PREFECT_LOGGING_LEVEL": "ERROR",
        })  # fmt: skip
        # No run of a worker is started in a folder of ours.
        (folder / "gpuledger.toml").write_text('sources = ["ecb_fx", "newegg"]\n')
        self.api = Api(self.env["PREFECT_API_URL"], CREDENTIAL)

    def start(self, words: list[str]) -> None:
        words = [self.port if word == "4200" else "127.0.0.1" if word == "0.0.0.0" else word for word in words]
        with (self.folder / f"{len(self.running)}.log").open("wb") as out:
            self.running.append(
                subprocess.Popen(words, env=self.env, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)
            )

    def run(self, words: list[str]) -> str:
        done = subprocess.run(words, env=self.env, cwd=ROOT, check=False, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        for process in reversed(self.running):
            # The whole session: a worker's runs are its children.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    found = Machines(tmp_path)
    yield found
    found.stop()


@pytest.mark.slow
@pytest.mark.slow_combination
def test_workers_pick_up_a_scheduled_run_and_the_rebuild_that_its_event_starts(machines: Machines) -> None:
    machines.start(command("prefect-server"))
    until(machines.api.answers, "the server answers")
    machines.start(command("writer"))
    machines.start(command("reader"))
    machines.run(command("set-up"))
    # The same deployment on the sample, every fifteen seconds instead of every night.
    deploy = (
        "prefect --no-prompt deploy --prefect-file deploy/prefect.yaml --name nightly --interval 15 --param sample=true"
    )
    machines.env |= {"CRON": "0 3 * * *", "TIME_ZONE": "UTC"}
    machines.run(shlex.split(deploy))

    def completed(name: str) -> list[dict[str, Any]]:
        return [run for run in machines.api.runs(name) if run["state"]["type"] == "COMPLETED"]

    planned = until(lambda: machines.api.runs("refresh/nightly"), "a run is planned and due")[0]
    # One is enough, and the one writer must be free for the rebuild.
    machines.api.pause("refresh/nightly")
    first = until(lambda: completed("refresh/nightly"), f"a scheduled run is done\n{machines.logs()}")[0]
    assert (first["id"], first["auto_scheduled"]) == (planned["id"], True)
    assert first["work_pool_name"] == "gpuledger"
    data = Path(machines.env["GPULEDGER_DATA_DIR"])
    assert rows(data, "SELECT DISTINCT source FROM ops.source_run ORDER BY 1") == [("ecb_fx",), ("newegg",)]
    read = [run for run in completed("read/on-workers") if run["work_pool_name"] == "gpuledger-read"]
    assert {run["parameters"]["source"] for run in read} == {"ecb_fx", "newegg"}
    rebuilt = until(lambda: completed("rebuild/on-change"), f"the event starts a rebuild\n{machines.logs()}")[0]
    assert rebuilt["auto_scheduled"] is False
    assert "no model is out of date" in rebuilt["state"]["message"]


def test_the_compose_file_has_what_its_services_name() -> None:
    volumes = set(COMPOSE["volumes"])
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", {})) <= set(SERVICES), name
        assert {volume.partition(":")[0] for volume in service.get("volumes", [])} <= volumes, name
        if "build" in service:
            assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert SERVICES["writer"]["command"][-2:] == ["--limit", "1"]  # one writer
    for name in SERVICES["writer"]["environment"]:
        assert not name.startswith("GPULEDGER_") or name in _settings(), name


def test_nothing_starts_without_a_credential_and_pinned_images() -> None:
    """`${NAME:?…}` is compose's word for what must be given."""
    server = SERVICES["prefect-server"]["environment"]
    for name, service in SERVICES.items():
        if name != "postgres":
            assert service["environment"]["PREFECT_API_AUTH_STRING"].startswith("${PREFECT_API_AUTH_STRING:?"), name
        image = service["build"]["args"]["PYTHON_IMAGE"] if "build" in service else service["image"]
        assert "@sha256:" in image or ":?" in image, name
        assert "no-new-privileges:true" in service["security_opt"], name
    assert server["PREFECT_SERVER_API_AUTH_STRING"].startswith("${PREFECT_API_AUTH_STRING:?")
    assert server["PREFECT_SERVER_CSRF_PROTECTION_ENABLED"] == "true"
    assert "*" not in server["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"]
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    images = [line.split()[1] for line in dockerfile if line.startswith("FROM ")]
    assert all(
        "@sha256:" in image or (image == "${PYTHON_IMAGE}" and "ARG PYTHON_IMAGE" in dockerfile) for image in images
    )


@pytest.mark.parametrize("answer", [f"sha256:{'0f' * 32}", "", "<no value>"])
def test_the_script_pins_what_compose_asks_for_or_nothing(tmp_path: Path, answer: str) -> None:
    """No registry is asked: a program called docker gives the answer of `buildx imagetools inspect`."""
    docker = tmp_path / "docker"
    docker.write_text(f"#!/bin/sh\n[ \"$1 $2 $3\" = 'buildx imagetools inspect' ] && echo '{answer}'\n")
    docker.chmod(0o755)
    done = subprocess.run(
        ["sh", str(ROOT / "deploy" / "pin-images.sh")], env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if not answer.startswith("sha256:"):
        assert (done.returncode, done.stdout) == (1, "")
        assert "no digest of python:3.11-slim was found" in done.stderr
        return
    given = dict(line.split("=", 1) for line in done.stdout.splitlines())
    compose = (ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8")
    assert set(given) == set(re.findall(r"\$\{(\w+):\?", compose))
    assert [given["PYTHON_IMAGE"], given["POSTGRES_IMAGE"]] == [f"python:3.11-slim@{answer}", f"postgres:17@{answer}"]
    assert re.fullmatch(r"[0-9a-f]{64}", given["POSTGRES_PASSWORD"])
    assert re.fullmatch(r"gpuledger:[0-9a-f]{64}", given["PREFECT_API_AUTH_STRING"])
    assert given["POSTGRES_PASSWORD"] not in given["PREFECT_API_AUTH_STRING"]


def _settings() -> set[str]:
    from gpuledger.flows.settings.settings import FILE_VARIABLE, explain

    return {FILE_VARIABLE, *(f"GPULEDGER_{origin.name.upper()}" for origin in explain({}, Path("/nowhere")))}


def test_the_deployments_name_flows_that_are_there() -> None:
    words = yaml.safe_load((ROOT / "deploy" / "prefect.yaml").read_text(encoding="utf-8"))
    names = {}
    for one in words["deployments"]:
        module, _, name = one["entrypoint"].rpartition(".")
        names[f"{getattr(importlib.import_module(module), name).name}/{one['name']}"] = one["work_pool"]["name"]
    assert names == {
        "refresh/nightly": "gpuledger", "refresh/quotes": "gpuledger", "rebuild/on-change": "gpuledger",
        "read/on-workers": "gpuledger-read",
    }  # fmt: skip
    assert SERVICES["writer"]["environment"]["GPULEDGER_READ_DEPLOYMENT"] in names
