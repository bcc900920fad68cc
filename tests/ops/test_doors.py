"""Who gets into the Prefect server of `gpuledger serve`: its own children and who has its credential, and nobody else."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpuledger.flows.prefect_ import server as prefect_server
from tests.command import gpuledger, succeeds
from tests.support.prefect_home import prefect_home
from tests.support.served import Api, Serving, marked, until

pytestmark = pytest.mark.slow

BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chrome"))), None)
#: A user who is not the one that serves, as a number: nobody.
SOMEBODY_ELSE = 65534


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One `serve` in a folder that every user of the machine can get to, under an umask that closes nothing."""
    folder = Path(tempfile.mkdtemp(prefix="doors-"))
    folder.chmod(0o755)
    prefect_home(tmp_path_factory, folder / "data" / "state" / "prefect")
    before = os.umask(0)
    try:
        found = Serving(folder / "data", folder / "serve.log")
    finally:
        os.umask(before)
    try:
        found.api.deployment("rebuild/on-change")  # the last one that is deployed
        yield found
    finally:
        found.stop()
        for process in marked(folder):
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def asked(serving: Serving) -> dict[str, tuple[str, str, Any]]:
    """What a stranger would ask for: to change a deployment, to run it, to read the blocks' secrets, to send an event."""
    deployment = serving.api.deployment("refresh/nightly")
    script = {"prefect.deployments.steps.run_shell_script": {"script": f"touch {serving.log.parent}/broken-in"}}
    events = [{
        "event": "gpuledger.quotes.changed", "id": "6f8a1c4e-7f0d-4f8e-9d1b-0a4f5f6b7c8d",
        "occurred": "2026-01-01T00:00:00Z", "resource": {"prefect.resource.id": "gpuledger.warehouse"},
    }]  # fmt: skip
    return {
        "patch": ("PATCH", f"/api/deployments/{deployment}", {"pull_steps": [script]}),
        "run": ("POST", f"/api/deployments/{deployment}/create_flow_run", {"state": {"type": "SCHEDULED"}}),
        "blocks": ("POST", "/api/block_documents/filter", {"include_secrets": True}),
        "events": ("POST", "/api/events", events),
    }


def port_of(serving: Serving) -> int:
    return int(serving.api.url.rpartition(":")[2].partition("/")[0])


def ask(serving: Serving, asked: tuple[str, str, Any], headers: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
    """One request with these headers and no others; its status and headers."""
    method, path, words = asked
    connection = http.client.HTTPConnection("127.0.0.1", port_of(serving), timeout=30)
    connection.putrequest(method, path, skip_host=True)
    body = json.dumps(words).encode()
    for name, value in {"Host": f"127.0.0.1:{port_of(serving)}", **headers}.items():
        connection.putheader(name, value)
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


def own_headers(serving: Serving) -> dict[str, str]:
    """All that is needed to get in."""
    serving.api.post("/deployments/filter", {})  # which makes it fetch a token
    request: dict[str, str] = {}

    def catch(method: str, path: str, words: object) -> None:
        request.update(serving.api.headers)
        request["Prefect-Csrf-Token"] = serving.api._token
        request["Prefect-Csrf-Client"] = serving.api._client

    catch("", "", None)
    return request


WHAT = ("patch", "run", "blocks", "events")
EVIL = (
    {"Origin": "http://evil.example"},
    {"Origin": "http://evil.example", "Host": "evil.example"},
    {"Host": "evil.example:4200"},
    {"Origin": "null"},
    {"Origin": "https://127.0.0.1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Host": "127.0.0.1.evil.example"},
)


@pytest.mark.parametrize("what", WHAT)
def test_a_page_of_another_origin_is_refused_even_with_the_credential(
    serving: Serving, asked: dict[str, tuple[str, str, Any]], what: str
) -> None:
    """DNS rebinding and forged requests: with what an own page would send, but for where it comes from."""
    inside = own_headers(serving)
    for headers in EVIL:
        status, answer = ask(serving, asked[what], {**inside, **headers})
        assert status in (403, 421), (what, headers, status)
        assert "access-control-allow-origin" not in answer
    # Without the credential, from the right place: by a program of another user.
    assert ask(serving, asked[what], {})[0] in (401, 403)
    token = {name: value for name, value in inside.items() if name != "Authorization"}
    assert ask(serving, asked[what], token)[0] == 401


def test_who_has_the_credential_is_let_in(serving: Serving, asked: dict[str, tuple[str, str, Any]]) -> None:
    assert ask(serving, asked["blocks"], own_headers(serving))[0] == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_is_refused(serving: Serving, asked: dict[str, tuple[str, str, Any]]) -> None:
    """As another uid: over the network, by the files of the service, and by what its processes were started with."""
    words = f"""
import encodings.idna, http.client, json, os, pathlib
http.client.HTTPConnection("127.0.0.1", {port_of(serving)}).connect()  # whatever this imports, it can no longer do later
os.setgroups([])
os.setgid({SOMEBODY_ELSE})
os.setuid({SOMEBODY_ELSE})
found = {{}}
for name, (method, path, words) in json.loads({json.dumps(json.dumps(asked))}).items():
    c = http.client.HTTPConnection("127.0.0.1", {port_of(serving)}, timeout=30)
    c.request(method, path, json.dumps(words), {{"Content-Type": "application/json"}})
    found[name] = c.getresponse().status
state = pathlib.Path({str(serving.note.parent)!r})
for path in (state, state / "prefect-server.json", state / "prefect" / "prefect.db", state.parent / "snapshots"):
    try:
        os.listdir(path) if path in (state, state.parent / "snapshots") else path.read_bytes()
        found[str(path)] = "read"
    except FileNotFoundError:
        pass
    except PermissionError:
        found[str(path)] = "refused"
for pid in {[process.pid for process in marked(serving.log.parent)]}:
    try:
        pathlib.Path("/proc", str(pid), "environ").read_bytes()
        found[str(pid)] = "read"
    except PermissionError:
        found[str(pid)] = "refused"
    command = pathlib.Path("/proc", str(pid), "cmdline").read_bytes()
    assert {serving.api.headers["Authorization"]!r}.encode() not in command
print(json.dumps(found))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", words], capture_output=True, text=True, check=False, cwd="/", timeout=100
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {found.pop(name) for name in WHAT} <= {401, 403}
    assert len(found) >= 5
    assert set(found.values()) == {"refused"}, found


def test_what_holds_a_secret_is_for_its_owner_alone(serving: Serving) -> None:
    """Under an umask of 0."""
    state = serving.note.parent
    for folder in (state, state / "prefect"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    for file in (serving.note, *state.glob("prefect/prefect.db*"), state / "prefect" / "server.log"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_what_stands_on_the_server_is_not_carried_out(serving: Serving, asked: dict[str, tuple[str, str, Any]]) -> None:
    """With the credential, too: a deployment's steps, its entry point and its environment are not ours to believe."""
    mark = serving.log.parent / "broken-in"
    deployment = serving.api.deployment("rebuild/on-change")
    before = serving.api.get(f"/deployments/{deployment}")
    script = {"prefect.deployments.steps.run_shell_script": {"script": f"touch {mark}"}}
    serving.api.send("PATCH", f"/deployments/{deployment}", {
        "pull_steps": [script], "entrypoint": "antigravity.fly", "path": "/tmp", "enforce_parameter_schema": False,
    })  # fmt: skip
    run = serving.api.start("rebuild/on-change")
    state = serving.api.ended(run)
    assert not mark.exists()
    assert "antigravity" not in str(state)
    serving.api.send("PATCH", f"/deployments/{deployment}", {
        "pull_steps": before["pull_steps"], "entrypoint": before["entrypoint"], "enforce_parameter_schema": True,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("refresh/nightly", {"data_dir": "/tmp/elsewhere-of-doors"}),
        pytest.param("rebuild/on-change", {"data_dir": "/tmp/elsewhere-of-doors"}, marks=pytest.mark.slow_combination),
        pytest.param("refresh/quotes", {"data_dir": "/tmp/elsewhere-of-doors"}, marks=pytest.mark.slow_combination),
        pytest.param("refresh/nightly", {"files": ["/etc/passwd"]}, marks=pytest.mark.slow_combination),
        pytest.param("refresh/nightly", {"inbox": "/etc"}, marks=pytest.mark.slow_combination),
    ],
)
def test_a_run_is_given_no_other_folder(serving: Serving, name: str, parameters: dict[str, object]) -> None:
    """Refused when it is asked for, or by the flow, which knows no such parameter; nothing is made or read there."""
    try:
        state = serving.api.ended(serving.api.start(name, **parameters))
    except urllib.error.HTTPError as error:
        status, why = error.code, ""
    else:
        status, why = 200, f"{state['type']}: {state['message']}"
    # The flow's own process ends where the parameters do not fit, which Prefect calls failed or crashed.
    assert status in (409, 422) or why.startswith(("FAILED", "CRASHED")), (status, why)
    assert not Path("/tmp/elsewhere-of-doors").exists()


def test_the_log_names_the_way_in_and_holds_none(serving: Serving) -> None:
    """Others may read the log, whatever the umask says."""
    log = serving.log.read_text(errors="replace")
    assert "gpuledger serve --connect" in log.splitlines()[0]
    for secret in (serving.api.headers["Authorization"].split()[1], json.loads(serving.note.read_text())["credential"]):
        assert secret not in log


def test_the_credential_for_the_services_user(serving: Serving, tmp_path: Path) -> None:
    outcome = succeeds("serve", "--connect", data=serving.note.parents[1])
    assert f"The UI is http://127.0.0.1:{port_of(serving)};" in outcome.out
    given = dict(line.removeprefix("export ").split("=", 1) for line in outcome.out.splitlines() if line[0] != "#")
    assert given["PREFECT_API_URL"] == serving.api.url
    assert Api(given["PREFECT_API_URL"], given["PREFECT_API_AUTH_STRING"]).post("/flows/filter", {})
    nothing = gpuledger("serve", "--connect", data=tmp_path)
    assert (nothing.status, "no `gpuledger serve`" in nothing.err) == (1, True)


def visit(url: str, until_: Callable[[], bool], *more: str) -> None:
    """Have a real browser open `url`, until something is so."""
    assert BROWSER is not None
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
             "--remote-debugging-port=0", *more, url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            until(until_, f"the browser is done with {url}")
        finally:
            browser.kill()
            browser.wait()
            time.sleep(0.2)


class _Stranger(BaseHTTPRequestHandler):
    """A server of somebody else's: its page, redirects to wherever it likes, and all else as `serve` answers it.

    So a page of `evil.example:<port of serve>` asks its own origin, as it does after its name was led to 127.0.0.1.
    """

    server: _StrangersServer

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/page":
            self._say(200, self.server.page, {"Content-Type": "text/html"})
        elif self.path == "/told":
            self.server.told = json.loads(body)
            self._say(204, b"", {})
        elif self.path.startswith("/away?"):
            self._say(307, b"", {"Location": urllib.parse.unquote(self.path.removeprefix("/away?"))})
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.beyond, timeout=60)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            self.server.passed_on.append(answer.status)
            self._say(answer.status, answer.read(), {"Content-Type": "text/plain"})

    do_GET = do_POST = do_PATCH = do_OPTIONS = do_HEAD = _answer

    def _say(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _StrangersServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: str, port: int, beyond: int) -> None:
        super().__init__((address, port), _Stranger)
        self.beyond = beyond
        self.page = b""
        self.told: list[tuple[str, str]] = []
        self.passed_on: list[int] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed (chromium-headless-shell)")
@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        pytest.param("127.0.0.1", marks=pytest.mark.slow_combination),
        pytest.param("evil.example", marks=pytest.mark.slow_combination),
    ],
)
def test_no_way_that_a_page_knows_leads_in(serving: Serving, asked: dict[str, tuple[str, str, Any]], host: str) -> None:
    """A page of another site, of another port of this host, and of a name that was led here: all that ways_in.js tries."""
    port = port_of(serving)
    is_rebound = host == "evil.example"
    stranger = _StrangersServer("127.0.0.2" if is_rebound else "127.0.0.1", port if is_rebound else 0, port)
    bases = [f"http://127.0.0.1:{port}", *([f"http://{host}:{port}"] if is_rebound else [])]
    targets = {**asked, "clear": ("POST", "/api/admin/database/clear", {"confirm": True})}
    ways = Path(__file__).with_name("ways_in.js").read_text(encoding="utf-8")
    stranger.page = (
        "<!DOCTYPE html><body><script>"
        f"const bases = {json.dumps(bases)}, targets = {json.dumps(targets)};\n{ways}</script>"
    ).encode()
    runs = len(serving.api.runs("refresh/nightly"))
    visit(
        f"http://{host}:{stranger.server_address[1]}/page", lambda: bool(stranger.told),
        *(["--host-resolver-rules=MAP evil.example 127.0.0.2"] if is_rebound else []),
    )  # fmt: skip
    stranger.shutdown()
    stranger.server_close()
    assert len(stranger.told) >= 190 * len(bases)
    assert sum(came == "late" for _, came in stranger.told) < len(stranger.told) / 4
    read = [(way, came) for way, came in stranger.told if came.startswith("read")]
    if is_rebound:
        assert len(stranger.passed_on) >= 100
        assert set(stranger.passed_on) <= {403, 421}  # a websocket that is refused says 403
        read = [(way, came) for way, came in read if "421" not in came and "this server is" not in came]
    assert read == []
    # What cannot be read may still have been done: it was not.
    assert len(serving.api.runs("refresh/nightly")) == runs
    assert not (serving.log.parent / "broken-in").exists()
    deployment = serving.api.get(f"/deployments/{serving.api.deployment('refresh/nightly')}")
    assert "run_shell_script" not in json.dumps(deployment["pull_steps"])


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed (chromium-headless-shell)")
def test_a_person_logs_into_the_ui_with_the_credential(serving: Serving) -> None:
    """On Prefect's own login page, under the policy of what its pages may do."""
    from playwright.sync_api import expect, sync_playwright

    credential = json.loads(serving.note.read_text())["credential"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        for typed, text in (("gpuledger:wrong", "Authentication failed"), (credential, "Deployments")):
            page.goto(f"http://127.0.0.1:{port_of(serving)}/login")
            page.get_by_placeholder("admin:pass").fill(typed)
            assert page.get_by_text("Deployments").count() == 0
            page.get_by_role("button", name="Login").click()
            expect(page.get_by_text(text).first).to_be_visible(timeout=60_000)
        browser.close()


def test_who_took_the_port_of_a_killed_serve_is_not_asked(tmp_path: Path) -> None:
    """What a Prefect server calls a result is loaded as code, and a killed `serve` leaves its note and its port."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    def find(pid: int, port: int) -> bool:
        note = {"port": port, "pid": pid, "credential": "gpuledger:of-this-test"}
        (tmp_path / "prefect-server.json").write_text(json.dumps(note), encoding="utf-8")
        return prefect_server.find(tmp_path) is not None

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert [find(pid, port) for pid in (gone.pid, os.getppid(), 1, 0, -1, 10**30)] == [False] * 6
    assert asked == []
    assert find(os.getpid(), port)
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_process_of_the_noted_number_is_not_asked(tmp_path: Path) -> None:
    words = f"""
import http.server, os
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
os.setgroups([])
os.setuid({SOMEBODY_ELSE})
print(server.server_address[1], flush=True)
server.serve_forever()
"""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/"
    )
    assert process.stdout is not None
    note = {"port": int(process.stdout.readline()), "pid": process.pid, "credential": "gpuledger:of-this-test"}
    (tmp_path / "prefect-server.json").write_text(json.dumps(note), encoding="utf-8")
    try:
        assert prefect_server.find(tmp_path) is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_port_of_a_server_that_died_is_nobody_elses(server: prefect_server.Server) -> None:
    """Its clients go on asking: the runs of `serve`, with the credential, and they believe the answers."""
    assert server.process is not None
    port = server.port
    server.process.kill()
    server.process.wait()
    for address in ("127.0.0.1", "0.0.0.0", ""):
        for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            with socket.socket() as other:
                if option is not None:
                    other.setsockopt(socket.SOL_SOCKET, option, 1)
                with pytest.raises(OSError, match="in use"):
                    other.bind((address, port))
    # Who asks is turned away and does not wait, until the next one is there.
    assert not prefect_server.answers(server.api_url, timeout_s=60)
    server.start()
    assert server.port == port
    assert prefect_server.answers(server.api_url, timeout_s=60)
