"""`gpuledger serve` on the server of `prefect server start`: killed in a run, started again, events at once, and stopped; in
a folder whose modules nothing of it may run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpuledger.flows.night import run_log
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows
from tests.ops.trap import lay, ran, without_ours
from tests.support.prefect_home import prefect_home
from tests.support.served import Server, Serving, marked, until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests, as it starts in ten seconds and more; the last test stops it."""
    home = tmp_path_factory.mktemp("server") / "prefect"
    prefect_home(tmp_path_factory, home)
    found = Server(home)
    yield found
    found.stop()


@pytest.fixture
def serving(tmp_path: Path, server: Server) -> Iterator[list[Serving]]:
    found: list[Serving] = []
    yield found
    for one in found:
        one.kill()
    for process in marked(tmp_path / "data"):
        process.kill()


#: A shop whose prices move, exchange rates, and the scores that a ranking needs.
ONLY = ["ecb_fx", "newegg", "toms_ai_articles"]


def begun(data: DataDir) -> int:
    return len(run_log.entries(data))


def test_killed_started_again_two_events_and_stopped(tmp_path: Path, server: Server, serving: list[Serving]) -> None:
    data, here = DataDir(tmp_path / "data"), lay(tmp_path / "downloaded")
    log = here / "serve.log"

    def start() -> Serving:
        """`serve` itself is started with `-m`; its children would find the package of the current folder."""
        with without_ours(here):
            serving.append(one := Serving(server, data.root, log))
        return one

    first = start()
    first.api.start("refresh/nightly", only=ONLY)
    until(lambda: begun(data) == 1, "the run begins to read")
    first.kill()
    run, *more = marked(data.root)
    run.kill()
    assert more == []

    # Nothing was published, and the next `serve` goes on.
    second = start()
    done = second.api.ended(second.api.start("refresh/nightly", only=ONLY))
    assert (done["type"], "prices changed" in done["message"]) == ("COMPLETED", True), log.read_text(errors="replace")
    assert rows(data.root, "SELECT status FROM ops.run ORDER BY started_at") == [("interrupted",), ("published",)]

    # The refresh itself has said that prices changed; that rebuild finds nothing to do. Then two events at once.
    until(
        lambda: [run for run in second.api.runs("rebuild/on-change") if run["state"]["type"] == "COMPLETED"],
        "it is heard",
    )
    before = len(second.api.runs("rebuild/on-change"))
    (here / "gpuledger.toml").write_text('baseline_gpu_id = "nvidia-geforce-rtx-4090"', encoding="utf-8")
    second.api.emit("gpuledger.models.changed", 2)

    def states_of(name: str) -> list[str]:
        return [run["state"]["type"] for run in second.api.runs(name)]

    def all_ended() -> list[str]:
        states = states_of("rebuild/on-change")[before:]
        return states if len(states) >= 3 and not {"SCHEDULED", "PENDING", "RUNNING"} & set(states) else []

    # One more than two: serve has seen the edited file itself.
    states = until(all_ended, "three runs end")
    assert states.count("COMPLETED") + states.count("CANCELLED") == len(states)
    assert states.count("CANCELLED") >= 1  # covered by another; how many had begun before it, chance says
    # One of them built, once: the baseline is in the settings that the tables depend on.
    assert rows(data.root, "SELECT count(*) FROM ops.run WHERE status = 'published'") == [(2,)]
    assert rows(data.root, "SELECT DISTINCT baseline_gpu_id FROM mart.ranking") == [("nvidia-geforce-rtx-4090",)]

    # A dropped quote is read as soon as it is all there, and nothing else is. One that cannot be read fails at once and for
    # good: waiting for another try would keep the mended one waiting.
    data.inbox.mkdir()
    quote = data.inbox / "quote.csv"
    quote.write_text("pizza,size\n1,2\n", encoding="utf-8")
    until(lambda: "FAILED" in states_of("refresh/quotes"), "the quote is refused")
    # From here on serve has done everything once: its own events have their connection to the server.
    process = psutil.Process(second.process.pid)
    files, memory = process.num_fds(), process.memory_info().rss
    quote.write_text("product,price,currency\nRTX 4090,1599.00,USD\n", encoding="utf-8")
    until(lambda: "COMPLETED" in states_of("refresh/quotes"), "the quote is read")
    newest = "WHERE run_id = (SELECT max(run_id) FROM ops.run)"
    assert rows(data.root, f"SELECT source, status, loaded FROM ops.source_run {newest}") == [("quotes", "ok", 1)]
    assert rows(data.root, f"SELECT sample_night FROM ops.run {newest}") == [(1,)]  # an inbox has no nights
    assert "Traceback" not in log.read_text(errors="replace")

    # Nothing of a run stays in the process that started it; the long series is a benchmark. A connection to the server is
    # kept for some seconds after it was of use.
    until(lambda: process.num_fds() <= files + 2, "what a run had open is closed")
    assert process.memory_info().rss < memory * 1.2

    # The parameters of a run name no folder.
    refused = second.api.ended(second.api.start("refresh/nightly", data_dir=str(tmp_path / "elsewhere")))
    assert refused["type"] in ("FAILED", "CRASHED")
    assert not (tmp_path / "elsewhere").exists()
    assert server.settings["PREFECT_API_AUTH_STRING"] not in log.read_text(errors="replace")

    assert second.stop() == 0
    assert marked(data.root) == []
    assert ran(here) == ""


def test_without_a_server_that_lets_it_in_it_says_what_to_start(server: Server, tmp_path: Path) -> None:
    api_url = server.settings["PREFECT_API_URL"]
    for env, why in (
        ({}, "name no API"),
        ({"PREFECT_API_URL": "http://127.0.0.1:9/api"}, "no Prefect API answers at http://127.0.0.1:9/api"),
        ({"PREFECT_API_URL": api_url}, "status 401: see PREFECT_API_AUTH_STRING"),
    ):
        outcome = gpuledger("serve", data=tmp_path / "data", env={**env, "PREFECT_HOME": str(tmp_path / "home")})
        assert (outcome.status, why in outcome.err) == (1, True), outcome.err


def test_doctor_fails_where_the_api_answers_without_a_credential(server: Server, tmp_path: Path) -> None:
    def found(env: dict[str, str]) -> tuple[int, str]:
        outcome = gpuledger("doctor", "--offline", "--format", "csv", data=tmp_path / "data", env=env)
        (line,) = [line for line in outcome.out.splitlines() if line.startswith("Prefect API")] or [""]
        return outcome.status, line

    assert found({"PREFECT_HOME": str(tmp_path / "home")}) == (0, "")
    closed = {"PREFECT_API_URL": server.settings["PREFECT_API_URL"], "PREFECT_HOME": str(tmp_path / "home")}
    status, line = found(closed)
    assert (status, "with status 401" in line) == (0, True), line
    server.stop()
    status, line = found(closed)
    assert (status, "does not answer" in line) == (1, True), line
    opened = Server(Path(server.settings["PREFECT_HOME"]), credential="")
    status, line = found({**closed, "PREFECT_API_URL": opened.settings["PREFECT_API_URL"]})
    opened.stop()
    assert (status, "PREFECT_SERVER_API_AUTH_STRING" in line) == (1, True), line
