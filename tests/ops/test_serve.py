"""`gpuledger serve` with its own Prefect server: killed in a run, started again, events at once, and stopped; in a folder
whose modules nothing of it may run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpuledger.flows.night import run_log
from gpuledger.warehouse.paths import DataDir
from tests.command import QUICK, gpuledger, rows
from tests.ops.trap import lay, ran, without_ours
from tests.support.prefect_home import prefect_home
from tests.support.served import Serving, marked, until

pytestmark = pytest.mark.slow


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[list[Serving]]:
    found: list[Serving] = []
    yield found
    for one in found:
        one.kill()
    for process in marked(tmp_path):
        process.kill()


#: A shop whose prices move, exchange rates, and the scores that a ranking needs.
ONLY = ["ecb_fx", "newegg", "toms_ai_articles"]


def begun(data: DataDir) -> int:
    return len(run_log.entries(data))


def test_killed_started_again_five_events_and_stopped(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, serving: list[Serving]
) -> None:
    data, here = DataDir(tmp_path / "data"), lay(tmp_path / "downloaded")
    log = here / "serve.log"

    def start() -> Serving:
        """`serve` itself is started with `-m`; its children would find the package of the current folder."""
        with without_ours(here):
            serving.append(one := Serving(data.root, log, **QUICK))
        return one

    prefect_home(tmp_path_factory, data.state / "prefect")
    first = start()
    killed_run = first.api.start("refresh/nightly", only=ONLY)
    until(lambda: begun(data) == 1, "the run begins to read")
    family = marked(data.root)
    assert len(family) >= 3  # serve, the server, the run
    first.kill()
    psutil.wait_procs(family, timeout=30)
    assert marked(data.root) == []

    # A second `serve` on the folder may start now; what was running is known to be dead, and nothing was published.
    second = start()
    refused = gpuledger("serve", "--sample", data=data.root)
    assert (refused.status, "is served already" in refused.err) == (1, True)
    assert second.api.ended(killed_run)["type"] == "CRASHED"
    done = second.api.ended(second.api.start("refresh/nightly", only=ONLY))
    assert (done["type"], "prices changed" in done["message"]) == ("COMPLETED", True), log.read_text(errors="replace")
    assert rows(data.root, "SELECT status FROM ops.run ORDER BY started_at") == [("interrupted",), ("published",)]

    # The refresh itself has said that prices changed; that rebuild finds nothing to do. Then five events at once.
    until(
        lambda: [run for run in second.api.runs("rebuild/on-change") if run["state"]["type"] == "COMPLETED"],
        "it is heard",
    )
    before = len(second.api.runs("rebuild/on-change"))
    (here / "gpuledger.toml").write_text('baseline_gpu_id = "nvidia-geforce-rtx-4090"', encoding="utf-8")
    second.api.emit("gpuledger.models.changed", 5)

    def states_of(name: str) -> list[str]:
        return [run["state"]["type"] for run in second.api.runs(name)]

    def all_ended() -> list[str]:
        states = states_of("rebuild/on-change")[before:]
        return states if len(states) >= 6 and not {"SCHEDULED", "PENDING", "RUNNING"} & set(states) else []

    # One more than five: serve has seen the edited file itself.
    states = until(all_ended, "six runs end")
    assert states.count("COMPLETED") + states.count("CANCELLED") == len(states)
    assert states.count("CANCELLED") >= 2  # covered by another; how many had begun before it, chance says
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

    assert second.stop() == 0
    assert marked(data.root) == []
    assert not second.note.exists()
    assert ran(here) == ""
