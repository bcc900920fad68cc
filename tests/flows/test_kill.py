"""`kill -9` at any moment: the published file is whole, and the next run ends where an undisturbed one does."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.warehouse.paths import DataDir
from tests.command import ROOT, contents, csv_files, environment, rows

#: A shop whose prices move, exchange rates, and scores: every way of loading, and quick.
ONLY = ("ecb_fx", "newegg", "toms_ai_articles")
#: Of the steps of publishing every n-th is tried, and of the other changes of the disk every fifth of those. Each costs two
#: runs; `make test` has some of the steps in test_again_and_again_without_a_good_run_between.
STRIDE = 1 if "KILLS" in os.environ else 6
#: Kills by the clock, for the moments between two files: inside a transaction, a copy, a checkpoint. Of a run under Prefect:
#: tests/ops/test_temporary.py and test_serve.py.
KILLS = int(os.environ.get("KILLS", "8"))
#: Of them, those that `make test` has time for.
FEW = 1


class Killer:
    """The process that forks refreshes and kills them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("killed.py"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(), cwd=ROOT, text=True,
        )  # fmt: skip
        assert self._read().strip() == "ready"

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def refresh(self, data: Path, night: int, **how: float) -> tuple[int, list[str]]:
        """Exit status of one refresh, and what it changed on disk where it ended."""
        assert self._process.stdin is not None
        order = {"data": str(data), "night": night, "only": ONLY, **how}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._read())
        return answer["status"], answer["events"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=600)


@dataclass(frozen=True)
class Nights:
    """The first night as it was published, and what the second leaves when nobody disturbs it."""

    killer: Killer
    first: Path
    first_events: list[str]
    before: dict[str, str]
    after: dict[str, str]
    files: dict[str, bytes]
    events: list[str]
    #: How long each run took that came to its end.
    seconds: list[float]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    folder = tmp_path_factory.mktemp("kill")
    killer = Killer()
    status, first_events = killer.refresh(folder / "first", 1)
    assert status == 0
    shutil.copytree(folder / "first", folder / "second", symlinks=True)
    started = time.monotonic()
    status, events = killer.refresh(folder / "second", 2)
    seconds = [time.monotonic() - started]
    assert status == 0
    before, after = contents(DataDir(folder / "first").published), contents(DataDir(folder / "second").published)
    assert before != after
    files = csv_files(folder / "second" / "exports")
    yield Nights(killer, folder / "first", first_events, before, after, files, events, seconds)
    killer.close()


def converges(nights: Nights, data: Path) -> None:
    """One more run of the second night, and all is as if nothing had happened."""
    started = time.monotonic()
    assert nights.killer.refresh(data, 2)[0] == 0
    nights.seconds.append(time.monotonic() - started)
    assert contents(DataDir(data).published) == nights.after
    assert csv_files(data / "exports") == nights.files
    assert Archive(data / "snapshots").verify() == []
    litter = [path.name for path in data.rglob("*") if path.name.startswith(("work-", "publishing", ".gpuledger"))]
    litter += [path.name for path in data.rglob("*") if path.name.startswith(".tmp-") or path.suffix == ".part"]
    assert litter == []


def after_a_kill(nights: Nights, data: Path, **how: float) -> None:
    status, _ = nights.killer.refresh(data, 2, **how)
    assert status in (-9, 0), "killed, or done before the kill came"
    assert contents(DataDir(data).published) in (nights.before, nights.after), (
        "a reader sees one night or the other, whole"
    )


@pytest.mark.slow_combination
def test_at_the_steps_of_publishing_and_at_others(undisturbed: Nights, tmp_path: Path) -> None:
    own = [
        n
        for n, event in enumerate(undisturbed.events)
        if not event.split(" ")[1].startswith(("/snapshots", "/exports"))
    ]
    others = sorted(set(range(len(undisturbed.events))) - set(own))
    assert len(own) >= 15
    assert len(others) >= 40
    # Every step on its own, one for one, is in the tests of the publisher; here the whole run is killed for good.
    for n in own[::STRIDE] + others[:: 5 * STRIDE]:
        data = tmp_path / str(n)
        shutil.copytree(undisturbed.first, data, symlinks=True)
        after_a_kill(undisturbed, data, before=n)
        converges(undisturbed, data)
        shutil.rmtree(data)


@pytest.mark.parametrize(
    "n", [pytest.param(n, marks=[pytest.mark.slow_combination] * (n >= FEW)) for n in range(KILLS)]
)
def test_at_moments_between(undisturbed: Nights, tmp_path: Path, n: int) -> None:
    data = tmp_path / "data"
    shutil.copytree(undisturbed.first, data, symlinks=True)
    # As long as a run took just now, and a little longer: a busy machine must not have all kills come early.
    after_a_kill(undisturbed, data, after=random.Random(20231116 + n).random() * 1.1 * undisturbed.seconds[-1])
    converges(undisturbed, data)
    shutil.rmtree(data)


def test_again_and_again_without_a_good_run_between(undisturbed: Nights, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(undisturbed.first, data, symlinks=True)
    publishing = next(n for n, event in enumerate(undisturbed.events) if event.endswith("/state/publishing"))
    for n in (3, publishing - 3, publishing + 1, publishing - 1, publishing):
        after_a_kill(undisturbed, data, before=n)
    converges(undisturbed, data)
    first, *killed, last = rows(data, "SELECT status, sample_night, finished_at IS NULL FROM ops.run ORDER BY rowid")
    assert (first, last) == (("published", 1, False), ("published", 2, False))
    assert ("interrupted", 2, True) in killed
    assert {*killed} <= {("interrupted", 2, True), ("published", 2, False)}, "one that had published is no such"


def test_in_the_middle_of_the_first_run_of_all(undisturbed: Nights, tmp_path: Path) -> None:
    """Nothing was published yet, so a kill leaves nothing or the first night."""
    publishing = next(n for n, event in enumerate(undisturbed.first_events) if event.endswith("/state/publishing"))
    data = tmp_path / "killed"
    assert undisturbed.killer.refresh(data, 1, before=publishing + 2)[0] == -9
    if (data / "gpuledger.duckdb").exists():
        assert contents(DataDir(data).published) == undisturbed.before
    assert undisturbed.killer.refresh(data, 1)[0] == 0
    assert contents(DataDir(data).published) == undisturbed.before
