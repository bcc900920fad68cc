"""The real command in a process of its own, and what it left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.warehouse import schema
from gpuledger.warehouse.outputs.tables import TOO_LARGE
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query, reader

#: `make test-duckdb` runs the tests on DuckDB 1.5, which differs in a few things that no user of ours meets.
IS_DUCKDB_1 = duckdb.__version__.startswith("1.")
ROOT = Path(__file__).parents[1]
#: Where `make` puts the DuckDB that requirements.lock does not hold.
OTHER_DUCKDB = Path(sys.prefix) / "other-duckdb"
#: These tests run on that one: `make test-duckdb`.
ON_OTHER = OTHER_DUCKDB in Path(duckdb.__file__).parents


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without anybody's own settings; the package is the one beside these tests, on their DuckDB."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GPULEDGER_", "PREFECT_"))}
    return {**kept, "PYTHONPATH": python_path(), "NO_COLOR": "1", **(more or {})}


def python_path(package: Path = ROOT, *, on_other: bool = ON_OTHER) -> str:
    """PYTHONPATH for the package in the folder `package`, on one DuckDB or the other."""
    return os.pathsep.join(str(folder) for folder in ((OTHER_DUCKDB, package) if on_other else (package,)))


def arguments(*words: object, data: Path | None = None) -> list[str]:
    where = [] if data is None else ["--data-dir", str(data)]
    return [sys.executable, "-m", "gpuledger.flows.cli", *map(str, words), *where]


def gpuledger(
    *words: object, data: Path | None = None, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Outcome:
    """Run `gpuledger <words> --data-dir <data>` in a process of its own: a fork of one that has imported what a night
    imports, unless `env` says that it is to import others. The working folder is one without a gpuledger.toml. Whatever
    is asked, no command ends in a traceback.
    """
    folder, command = cwd or Path(tempfile.gettempdir()), arguments(*words, data=data)
    if "PYTHONPATH" not in (env or {}):
        outcome = _forks().run(command[3:], environment(env), folder)
    else:
        done = subprocess.run(
            command, env=environment(env), cwd=folder, check=False, capture_output=True, text=True, encoding="utf-8",
            timeout=600,
        )  # fmt: skip
        outcome = Outcome(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in outcome.err, outcome.err
    return outcome


def succeeds(
    *words: object, data: Path | None = None, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Outcome:
    """As `gpuledger`, of a command that ends with status 0."""
    outcome = gpuledger(*words, data=data, env=env, cwd=cwd)
    assert outcome.status == 0, outcome.err
    return outcome


class Forks:
    """The process whose forks are the command: see `tests/support/forked.py`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(), cwd=ROOT, text=True,
        )  # fmt: skip
        self._lock = threading.Lock()
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, words: list[str], env: Mapping[str, str], folder: Path) -> Outcome:
        """How the command ended that was called with `words`. Killed after a quarter of an hour, if it hangs."""
        assert self._process.stdin is not None
        with self._lock, tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            order = {"words": words, "environment": env, "folder": str(folder), "out": out.name, "err": err.name}
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            alarm = threading.Timer(900, os.kill, (int(self._line()), signal.SIGKILL))
            alarm.start()
            status = int(self._line())
            alarm.cancel()
            return Outcome(status, *(Path(file.name).read_text(encoding="utf-8") for file in (out, err)))


@cache
def _forks() -> Forks:
    return Forks()


def rows(data: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of the published file."""
    return query(DataDir(data), sql)[1]


def tables(data: Path, *schemas: str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of every table and view of the schemas, sorted: by default those that an answer is read from. Views that
    are too large to be exported are too large here.
    """
    wanted = schemas or ("core", "mart")
    with reader(DataDir(data)) as con:
        names = con.execute(
            """SELECT schema_name || '.' || table_name AS name FROM duckdb_tables() WHERE database_name = 'gpuledger'
               UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views()
               WHERE database_name = 'gpuledger' AND NOT internal ORDER BY name"""
        ).fetchall()
        return {
            name: con.execute(f"FROM {name} ORDER BY ALL").fetchall()
            for (name,) in names
            if name.partition(".")[0] in wanted and name not in TOO_LARGE
        }


def contents(path: Path) -> dict[str, str]:
    """Fingerprint of every core and mart table and view of a file. Reads all of it, so it fails where a part is damaged."""
    with duckdb.connect(str(path), read_only=True) as con:
        names = con.execute(
            """SELECT schema_name || '.' || table_name AS name FROM duckdb_tables() WHERE schema_name IN ('core', 'mart')
               UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE schema_name IN ('core', 'mart')
               ORDER BY name"""
        ).fetchall()
        return {name: schema.content(con, name) for (name,) in names if name not in TOO_LARGE}


def csv_files(folder: Path) -> dict[str, bytes]:
    """The CSV files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}
