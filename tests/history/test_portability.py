"""Both DuckDBs that the program runs on give the same rows, and go on with each other's files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.transform.build import graph
from gpuledger.warehouse import schema
from gpuledger.warehouse.paths import DataDir
from tests.command import (
    ON_OTHER,
    OTHER_DUCKDB,
    TOO_LARGE,
    arguments,
    csv_files,
    environment,
    gpuledger,
    python_path,
    tables,
)
from tests.history.ask_everything import answers
from tests.install.built import ASKS_THE_SOURCES, MORE
from tests.install.built import questions as questions_of_readers
from tests.nights import Night

#: SQL values for parameters of table macros; the others have their default, or NULL.
VALUES = {"as_of_day": "DATE '2023-11-17'"}
#: The format of each DuckDB is its own unless it is told another.
COPY = "import duckdb, sys; duckdb.execute(sys.argv[1])"


def questions() -> dict[str, str]:
    """A call of every table macro, and a part of each view that is too large to be read whole."""
    con = duckdb.connect()
    schema.create(con)
    macros = (model for model in graph.load(con) if model.materialized == "macro")
    found = {name: f"(FROM {name} WHERE gpu_id = 'nvidia-geforce-rtx-3060-12gb')" for name in TOO_LARGE}
    for macro in macros:
        values = (VALUES.get(name) or parameter.default or "NULL" for name, parameter in macro.parameters.items())
        found[macro.name] = f"{macro.name}({', '.join(values)})"
    return found


def read(file: Path, on: dict[str, str] | None = None) -> dict[str, Any]:
    """What `read_everything.py` finds in `file`, with the DuckDB of that environment or else our own."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("read_everything.py")), str(file), json.dumps(questions())],
        env=environment(on), check=False, capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def other() -> dict[str, str]:
    """What makes a process take the DuckDB that these tests do not run on."""
    if not (OTHER_DUCKDB / "duckdb").is_dir():
        pytest.skip(f"no second DuckDB is in {OTHER_DUCKDB}: `make test` installs it")
    return {"PYTHONPATH": python_path(on_other=not ON_OTHER)}


@pytest.fixture(scope="module")
def ours(nights: dict[int, Night]) -> dict[str, Any]:
    """What our own DuckDB finds in the file of the last night."""
    return read(nights[3].data / "gpuledger.duckdb")


def test_every_table_view_and_macro_gives_the_same_rows_in_both(
    nights: dict[int, Night], ours: dict[str, Any], other: dict[str, str]
) -> None:
    theirs = read(nights[3].data / "gpuledger.duckdb", other)
    assert ours["duckdb"] == duckdb.__version__
    assert {version["duckdb"].partition(".")[0] for version in (ours, theirs)} == {"1", "2"}
    assert ours["found"].keys() == theirs["found"].keys()
    for name, held in ours["found"].items():
        assert theirs["found"][name] == held, name


def test_every_reading_command_gives_the_same_answer_in_both(
    nights: dict[int, Night], other: dict[str, str], tmp_path: Path
) -> None:
    """What a command asks stands in no view, so the test above does not see it."""
    asks_nothing_of_it = {*ASKS_THE_SOURCES, *MORE, "settings"}
    asked = {name: words for name, words in questions_of_readers().items() if name not in asks_nothing_of_it}
    data = str(nights[3].data)
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("ask_everything.py")), data, json.dumps(asked)],
        env=environment(other), cwd=tmp_path, check=False, capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours, theirs = answers(data, asked), json.loads(done.stdout)
    assert ours.keys() == theirs.keys()
    for name, answer in ours.items():
        assert answer[0] in (0, 3), (name, answer)
        assert theirs[name] == answer, name


@pytest.mark.slow
def test_one_goes_on_with_what_the_other_wrote_and_back(
    nights: dict[int, Night], other: dict[str, str], tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    for night, on in ((2, other), (3, None)):
        outcome = gpuledger("refresh", "--sample", "--engine", "plain", data=data, env=on)
        assert outcome.status == 3, outcome.err
        expected, found = tables(nights[night].data), tables(data)
        assert found.keys() == expected.keys()
        for table, held in expected.items():
            assert found[table] == held, (night, table)
        assert csv_files(data / "exports") == csv_files(nights[night].data / "exports")


def test_a_file_in_the_newer_ones_own_format_is_refused_by_the_older(
    nights: dict[int, Night], other: dict[str, str], tmp_path: Path
) -> None:
    """An operator who copies the warehouse with DuckDB 2.0 and goes back to 1.5 reads why it does not open."""
    older, newer = ({}, other) if duckdb.__version__.startswith("1.") else (other, {})
    data = nights[1].copy(tmp_path / "data")
    where = DataDir(data)
    whole, anew = where.published.resolve(), tmp_path / "anew.duckdb"
    copy = (
        f"ATTACH '{whole}' AS held (READ_ONLY); ATTACH '{anew}' AS anew; COPY FROM DATABASE held TO anew; DETACH anew"
    )
    subprocess.run([sys.executable, "-c", COPY, copy], env=environment(newer), check=True, timeout=600)
    for path in (where.base, whole):
        path.unlink()
        path.write_bytes(anew.read_bytes())
    for words in (("status",), ("refresh", "--sample", "--engine", "plain")):
        done = subprocess.run(
            arguments(*words, data=data),
            env=environment(older),
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 1
        assert "was written by a newer DuckDB, and this is DuckDB 1." in done.stderr
        assert "Traceback" not in done.stderr
    assert gpuledger("status", data=data, env=newer).status == 0


def test_nothing_that_is_built_is_left_out(ours: dict[str, Any]) -> None:
    con = duckdb.connect()
    schema.create(con)
    found = ours["found"]
    expected = {model.name for model in graph.load(con) if model.materialized != "function"}
    assert expected <= found.keys()
    assert sum(bool(held["rows"]) for held in found.values()) > len(found) / 2
