"""The same models built by us and by dbt: all of them, and on a night on which nothing changed.

Both build the tables and views of the published file (macros and functions stand in it already) from the same SQL and the
same pandas functions, on DuckDB of one version, in a copy of one file, and set the same comments. Both answer from a process
that has started and has built once: opening the file and reading the models count on both sides, dbt with its partial
parsing; start-up is counted apart. What comes out must be the same, row for row.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.dbt import project
from gpuledger.transform.build import graph
from gpuledger.transform.build.graph import Model
from gpuledger.warehouse import schema
from gpuledger.warehouse.paths import DataDir
from tests.support import market_history as market

ROOT = Path(__file__).parents[1]
#: `make bench` makes it from benchmarks/dbt/requirements.lock.
DBT_PYTHON = ROOT / ".venv" / "dbt" / "bin" / "python"
#: Of the one file that both sides have a copy of: DuckDB names the database after it.
FILE = "gpuledger.duckdb"
TIMES = 5
#: dbt takes seconds to start.
STARTS = 3
FULL, QUIET = 3, 20

Rows = list[tuple[str, str, str, bool | None]]
Times = dict[str, float]


def run() -> Rows:
    """What was measured, the measure, the bound asked for, and whether it is kept."""
    if not DBT_PYTHON.exists():
        raise FileNotFoundError(f"{DBT_PYTHON.relative_to(ROOT)} is not there: `make bench` installs dbt into it")
    with tempfile.TemporaryDirectory() as folder:
        data = DataDir(Path(folder) / "data")
        _command("refresh", "--sample", "--night", "1", "--engine", "plain", "--quiet", data=data)
        rows = _compare(Path(folder) / "sample", data, "sample")
        if files := market.files():
            _command("backfill", *map(str, files), data=data)
            rows += _compare(Path(folder) / "years", data, "sample and three years of prices")
        return rows


def _command(*words: str, data: DataDir) -> None:
    command = [sys.executable, "-m", "gpuledger.flows.cli", *words, "--data-dir", str(data.root)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@dataclass(frozen=True, slots=True)
class _Side:
    """One that builds `file`: its process, and what it is told for each kind of build."""

    command: tuple[str, ...]
    file: Path
    told: dict[str, object]

    def start(self) -> _Running:
        """Its process, as soon as it has answered."""
        # `transform` is found from the project's root by dbt's Python too; no word of dbt's goes out.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DBT_")}
        environment |= {"PYTHONPATH": str(ROOT), "DO_NOT_TRACK": "1"}
        process = subprocess.Popen(
            self.command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return _Running(self, process)


class _Running:
    """A side that waits for what it is told."""

    def __init__(self, side: _Side, process: subprocess.Popen[str]) -> None:
        self._side, self._process = side, process
        self.versions: dict[str, str] = self._answer()

    def build(self, kind: str, built: int) -> float:
        """Seconds of a build within the process. Raises RuntimeError where it built more or fewer models than `built`."""
        assert self._process.stdin is not None
        print(json.dumps(self._side.told[kind]), file=self._process.stdin, flush=True)
        answer = self._answer()
        if answer["built"] != built:
            raise RuntimeError(f"{self._side.command[-1]}, {kind}: {answer['built']} models built, not {built}")
        return float(answer["seconds"])

    def __enter__(self) -> _Running:
        return self

    def __exit__(self, *failure: object) -> None:
        # Its input ends, so it does, and its file is closed.
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self._side.command)} ended with status {self._process.wait()}")
        try:
            return json.loads(line)
        except ValueError:
            raise RuntimeError(f"{' '.join(self._side.command)} said {line.strip()}") from None


def _compare(folder: Path, data: DataDir, name: str) -> Rows:
    """The rows of one file."""
    folder.mkdir()
    before = folder / FILE
    shutil.copyfile(data.published, before)
    with duckdb.connect(str(before), config=project.SETTINGS) as con:
        loaded = graph.load(con)
        dbt = _dbt(con, loaded, folder, "dbt", comments=True)
        bare = _dbt(con, loaded, folder, "dbt_bare", comments=False)
        models = project.built(loaded)
        # What stands afterwards is what was built.
        for model in models:
            con.execute(f"DROP {model.materialized} {model.name}")
    ours = _Side(
        (sys.executable, "-m", "benchmarks.dbt.our_side", str(folder / "ours" / FILE)),
        folder / "ours" / FILE,
        {"full": True, "quiet": False},
    )
    for side in (ours, dbt, bare):
        side.file.parent.mkdir()
        shutil.copyfile(before, side.file)
    (folder / "state").mkdir()

    with ours.start() as a, dbt.start() as b, bare.start() as c:
        if {a.versions["duckdb"], a.versions["pandas"]} != {b.versions["duckdb"], b.versions["pandas"]}:
            raise RuntimeError(
                f"not of one version: {a.versions} and {b.versions}; benchmarks/dbt/requirements.in names them"
            )
        everything = len(models)
        for one in (a, b, c):
            one.build("full", everything)
        shutil.copyfile(folder / "dbt_project" / "target" / "manifest.json", folder / "state" / "manifest.json")
        times = _medians(
            {
                "full": lambda: a.build("full", everything),
                "dbt full": lambda: b.build("full", everything),
                "quiet": lambda: a.build("quiet", 0),
                "dbt quiet": lambda: b.build("quiet", everything),
                "dbt modified": lambda: b.build("modified", 0),
                "dbt bare": lambda: c.build("full", everything),
            },
            TIMES,
        )
    starts = _medians(
        {
            "full": lambda: _started(ours, "full", everything),
            "dbt": lambda: _started(dbt, "full", everything),
            "quiet": lambda: _started(ours, "quiet", 0),
        },
        STARTS,
    )
    _same(models, ours.file, dbt.file, comments=True)
    _same(models, ours.file, bare.file, comments=False)
    python = sum(model.build is not None for model in models)
    what = (
        f"{name}, {everything} models ({python} of them Python): ours beside dbt-core {b.versions['dbt-core']} with "
        f"dbt-duckdb {b.versions['dbt-duckdb']} on DuckDB {b.versions['duckdb']}"
    )
    return _rows(what, times, starts)


def _rows(what: str, times: Times, starts: Times) -> Rows:
    full, quiet = times["dbt full"] / times["full"], times["dbt quiet"] / times["quiet"]
    return [
        (f"{what}; full build, median of {TIMES}", _beside(times["full"], times["dbt full"]), f"{FULL} times", full >= FULL),
        ("… nothing changed", _beside(times["quiet"], times["dbt quiet"]), f"{QUIET} times", quiet >= QUIET),
        ("… nothing changed, dbt told state:modified, which sees changed models and no changed rows",
         _beside(times["quiet"], times["dbt modified"]), "", None),
        ("… full build, dbt without the comments that ours sets", _beside(times["full"], times["dbt bare"]), "", None),
        (f"… full build, start-up included, median of {STARTS}", _beside(starts["full"], starts["dbt"]), "", None),
        ("… nothing changed, start-up included", _beside(starts["quiet"], starts["dbt"]), "", None),
    ]  # fmt: skip


def _beside(ours: float, dbt: float) -> str:
    return f"{ours:.3f} s, dbt {dbt:.2f} s: {dbt / ours:.1f} times"


def _dbt(con: duckdb.DuckDBPyConnection, models: Sequence[Model], folder: Path, name: str, *, comments: bool) -> _Side:
    """dbt with a project of its own."""
    where, file = folder / f"{name}_project", folder / name / FILE
    project.write(con, models, where, file, comments=comments)
    words = ["run", "--project-dir", str(where), "--profiles-dir", str(where), "--quiet"]
    modified = [*words, "--select", "state:modified", "--state", str(folder / "state")]
    command = (str(DBT_PYTHON), str(ROOT / "benchmarks" / "dbt" / "dbt_side.py"))
    return _Side(command, file, {"full": words, "quiet": words, "modified": modified})


def _medians(works: dict[str, Callable[[], float]], times: int) -> Times:
    """In turns, so that what else the machine does meets all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(times):
        for name, work in works.items():
            seconds[name].append(work())
    return {name: statistics.median(each) for name, each in seconds.items()}


def _started(side: _Side, kind: str, built: int) -> float:
    """Seconds of a process that starts, builds once, and ends."""
    started = time.perf_counter()
    with side.start() as running:
        running.build(kind, built)
    return time.perf_counter() - started


def _same(models: Sequence[Model], ours: Path, dbt: Path, *, comments: bool) -> None:
    """Raise RuntimeError, naming the model, where both files do not hold the same rows, columns and, if asked, comments."""
    found = []
    for file in (ours, dbt):
        with duckdb.connect(str(file), read_only=True, config=project.SETTINGS) as con:
            found.append({model.name: _content(con, model, comments) for model in models})
    if wrong := [model.name for model in models if found[0][model.name] != found[1][model.name]]:
        raise RuntimeError(f"dbt and we built different {', '.join(wrong)}")


def _content(con: duckdb.DuckDBPyConnection, model: Model, comments: bool) -> object:
    content = schema.content(con, model.name)
    if not comments:
        return content
    return content, con.execute(
        f"""SELECT comment FROM duckdb_{model.materialized}s() WHERE schema_name || '.' || {model.materialized}_name = $name
            UNION ALL
            SELECT comment FROM duckdb_columns() WHERE schema_name || '.' || table_name = $name ORDER BY ALL""",
        {"name": model.name},
    ).fetchall()


if __name__ == "__main__":
    for row in run():
        print(" | ".join(map(str, row)))
