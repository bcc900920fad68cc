"""One writer at a time, whichever engine: the others leave while it is still at work, and say who it is."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.command import arguments, environment, rows
from tests.support.prefect_home import prefect_home

#: How they are started: an embedded server each would only make them late.
FEW = ["plain", "prefect"]
TEN = [*["plain"] * 8, *["prefect"] * 2]


@pytest.mark.slow
@pytest.mark.parametrize("together", [FEW, pytest.param(TEN, marks=pytest.mark.slow_combination)], ids=["few", "ten"])
def test_of_refreshes_at_once_one_publishes_and_the_others_say_why(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, together: list[str]
) -> None:
    prefect_home(tmp_path_factory, tmp_path / "state" / "prefect")
    words = ("refresh", "--sample", "--night", 1, "--only", "ecb_fx", "--engine")
    started = [
        subprocess.Popen(
            arguments(*words, engine, data=tmp_path), env=environment(), cwd=tempfile.gettempdir(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for engine in together
    ]  # fmt: skip
    ended: list[subprocess.Popen[str]] = []
    while len(ended) < len(together):
        ended += [process for process in started if process not in ended and process.poll() is not None]
        time.sleep(0.02)
    winner = ended.pop()  # the last to end, as it does the work
    assert winner.returncode == 0, winner.communicate()
    for process in ended:
        words = process.communicate()[1].strip()
        assert process.returncode == 1
        assert re.fullmatch(rf"gpuledger: another refresh is writing here: .*process {winner.pid}, since .*", words), (
            words
        )
    assert rows(tmp_path, "SELECT count(*) FROM ops.run") == [(1,)]
    assert len(list((tmp_path / "versions").glob("*/gpuledger.duckdb"))) == 1
