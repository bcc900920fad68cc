"""`gpuledger serve` and its Prefect server in processes of their own, and the server over HTTP, without importing Prefect:
for tests and benchmarks alike.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import psutil

T = TypeVar("T")

ROOT = Path(__file__).parents[2]

#: What a loaded machine may need; nothing is asserted on it but that the thing happens at all.
PATIENCE_S = 240.0
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


def environment(**more: str) -> dict[str, str]:
    """The environment without anybody's own settings; the program is the one beside this file."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GPULEDGER_", "PREFECT_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}


def command(*words: object, data: Path) -> list[str]:
    """The command line of `gpuledger <words> --data-dir <data>`."""
    return [sys.executable, "-m", "gpuledger.flows.cli", *map(str, words), "--data-dir", str(data)]


def until(what: Callable[[], T], why: str, patience_s: float = PATIENCE_S) -> T:
    """The first answer of `what` that is true. Fails, saying `why`, where there is none in time."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < patience_s:
        # A server on a machine that does much else may take its time, or lose a connection.
        with suppress(TimeoutError, ConnectionError):
            if answer := what():
                return answer
        # Each question costs the server that is waited for: seldom, where it takes long.
        time.sleep(min(1.0, 0.1 + waited / 20))
    raise AssertionError(f"not in {patience_s:g} s: {why}")


class Api:
    """The API at `url`, as in http://127.0.0.1:4200/api, asked by who has its credential."""

    def __init__(self, url: str, credential: str = "") -> None:
        self.url = url
        self.headers = (
            {"Authorization": "Basic " + base64.b64encode(credential.encode()).decode()} if credential else {}
        )
        self._client = str(uuid.uuid4())
        self._token = ""
        self._deployments: dict[str, str] = {}

    def pause(self, name: str) -> None:
        """Plan no more runs of a deployment; those that are planned and not begun are dropped."""
        self.post(f"/deployments/{self.deployment(name)}/pause_deployment", {})

    def get(self, path: str) -> Any:
        """What the server answers to GET."""
        return _answer(urllib.request.Request(f"{self.url}{path}", headers=self.headers))

    def post(self, path: str, words: object) -> Any:
        """What the server answers to `words` as JSON, None where it answers nothing."""
        return self.send("POST", path, words)

    def send(self, method: str, path: str, words: object) -> Any:
        """The same with another method."""
        if self.headers and not self._token:
            self._token = str(self.get(f"/csrf-token?client={self._client}")["token"])
        of_csrf = {"Prefect-Csrf-Token": self._token, "Prefect-Csrf-Client": self._client} if self._token else {}
        headers = {"Content-Type": "application/json", **self.headers, **of_csrf}
        data = json.dumps(words).encode()
        return _answer(urllib.request.Request(f"{self.url}{path}", data=data, headers=headers, method=method))

    def answers(self) -> bool:
        """Whether the server is up."""
        try:
            self.get("/health")
        except (OSError, ValueError):
            return False
        return True

    def deployment(self, name: str) -> str:
        """The id of a deployment, as in refresh/nightly; waits until it is there."""

        def find() -> str:
            try:
                return str(self.get(f"/deployments/name/{name}")["id"])
            except urllib.error.HTTPError:
                return ""

        if name not in self._deployments:
            self._deployments[name] = until(find, f"{name} is deployed")
        return self._deployments[name]

    def start(self, name: str, **parameters: object) -> str:
        """Ask for a run of a deployment now; returns the run's id."""
        words = {"state": {"type": "SCHEDULED"}, "parameters": parameters}
        return str(self.post(f"/deployments/{self.deployment(name)}/create_flow_run", words)["id"])

    def runs(self, name: str) -> list[dict[str, Any]]:
        """The runs of a deployment whose time has come, in order."""
        words = {
            "deployments": {"id": {"any_": [self.deployment(name)]}}, "sort": "EXPECTED_START_TIME_ASC",
            "flow_runs": {"expected_start_time": {"before_": datetime.now(UTC).isoformat()}},
        }  # fmt: skip
        found: list[dict[str, Any]] = self.post("/flow_runs/filter", words)
        return found

    def state(self, run: str) -> dict[str, Any]:
        """The state of a run as it is now."""
        found: dict[str, Any] = self.get(f"/flow_runs/{run}")["state"]
        return found

    def ended(self, run: str) -> dict[str, Any]:
        """The last state of a run; waits for it."""

        def find() -> dict[str, Any] | None:
            state = self.state(run)
            return state if state["type"] in ENDED else None

        return until(find, f"the run {run} ends") or {}

    def emit(self, event: str, times: int = 1) -> None:
        """Send an event, as any other program could."""
        resource = {"prefect.resource.id": "gpuledger.warehouse"}
        self.post("/events", [
            {"event": event, "id": str(uuid.uuid4()), "occurred": datetime.now(UTC).isoformat(), "resource": resource}
            for _ in range(times)
        ])  # fmt: skip


def _answer(request: urllib.request.Request) -> Any:
    """The answer's JSON, None for an empty one. A 503 is tried again, as Prefect's own client does: the server's database
    was locked, and nothing was done.
    """
    for patience in range(20, -1, -1):
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                content = answer.read()
            return json.loads(content) if content else None
        except urllib.error.HTTPError as error:
            if error.code != 503 or not patience:
                raise
            time.sleep(0.5)
    raise AssertionError


class Server:
    """`prefect server start` on a free port, with a credential and its files in `home`."""

    def __init__(self, home: Path, credential: str = "gpuledger:of-this-test") -> None:
        home.mkdir(exist_ok=True, parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.settings = {
            "PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_API_AUTH_STRING": credential,
            "PREFECT_HOME": str(home),
            # The runner asks every ten seconds what is due; who waits for it is less patient.
            "PREFECT_RUNNER_POLL_FREQUENCY": "2",
        }  # fmt: skip
        of_server = {
            **({"PREFECT_SERVER_API_AUTH_STRING": credential} if credential else {}),
            "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true", "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_UI_ENABLED": "false",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)], cwd=home, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=environment(**self.settings, **of_server), start_new_session=True,
        )  # fmt: skip
        self.api = Api(self.settings["PREFECT_API_URL"], credential)
        until(self.api.answers, "the server answers")

    def stop(self) -> None:
        """Kill it, and what it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Serving:
    """`gpuledger serve --sample` on a server; starts and waits until it serves. Its working folder is that of the log."""

    def __init__(self, server: Server, data: Path, log: Path, **env: str) -> None:
        self.log, self.api = log, server.api
        began = len(self._served())
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command("serve", "--sample", data=data), cwd=log.parent, stdout=out, stderr=subprocess.STDOUT,
                env=environment(**server.settings, **env),
            )  # fmt: skip
        until(lambda: len(self._served()) > began, "it serves")
        self.api.deployment("rebuild/on-change")  # the last one that is deployed

    def _served(self) -> list[str]:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return [line for line in text.splitlines() if " INFO serving " in line]

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=600)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()


def marked(data: object) -> list[psutil.Process]:
    """The processes that were started for a data directory, by their environment or by their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            words = [process.environ().get("GPULEDGER_DATA_DIR", ""), *process.cmdline()]
        except psutil.Error:
            continue
        if any(str(data) in word for word in words) and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found
