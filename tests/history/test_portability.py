"""The published file gives the same rows in the DuckDB before ours."""

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
from tests.command import TOO_LARGE, environment
from tests.nights import Night

OLD = Path(sys.prefix) / "duckdb15"
#: SQL values for parameters of table macros; the others have their default, or NULL.
VALUES = {"as_of_day": "DATE '2023-11-17'"}


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


def read(file: Path, folder: Path | None = None) -> dict[str, Any]:
    """What `read_everything.py` finds in `file`, with the DuckDB of `folder` or else our own."""
    more = {"PYTHONPATH": str(folder)} if folder else {}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("read_everything.py")), str(file), json.dumps(questions())],
        env=environment(more), check=False, capture_output=True, text=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def old_duckdb() -> Path:
    if not (OLD / "duckdb").is_dir():
        pytest.skip(f"there is no DuckDB 1.5 in {OLD}: `make test` installs it from requirements-duckdb15.lock")
    return OLD


def test_every_table_view_and_macro_gives_the_same_rows_in_both(nights: dict[int, Night], old_duckdb: Path) -> None:
    file = nights[3].data / "gpuledger.duckdb"
    new, old = read(file), read(file, old_duckdb)
    assert old["duckdb"].startswith("1.5.")
    assert new["duckdb"] == duckdb.__version__
    assert new["found"].keys() == old["found"].keys()
    for name, held in new["found"].items():
        assert old["found"][name] == held, name


def test_nothing_that_is_built_is_left_out(nights: dict[int, Night]) -> None:
    con = duckdb.connect()
    schema.create(con)
    found = read(nights[3].data / "gpuledger.duckdb")["found"]
    expected = {model.name for model in graph.load(con) if model.materialized != "function"}
    assert expected <= found.keys()
    assert sum(bool(held["rows"]) for held in found.values()) > len(found) / 2
