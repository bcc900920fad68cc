"""Who only asks installs neither Prefect nor Great Expectations: the base alone answers as the whole does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from tests.command import IS_DUCKDB_1, ROOT, environment
from tests.history import ask_everything
from tests.install.built import ASKS_THE_SOURCES, ask, questions
from tests.nights import Night, once
from tests.test_architecture import ROOMS, imports

#: Commands that need the other part, with words that would be enough for them; a file of prices for `backfill`.
NEEDS_NIGHTLY = {
    "sources": [],
    "refresh": ["--sample"],
    "serve": [],
    "replay": [],
    "vacuum": [],
    "backfill": ["prices.csv"],
    "parse": ["newegg", "prices.csv"],
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it asks for without extras, in the versions of the lock."""

    def install(folder: Path) -> None:
        uv = Path(sys.executable).with_name("uv")
        python = folder / "env" / "bin" / "python"
        lock = ROOT / "requirements.lock"
        for words in (["venv", "--python", sys.executable, folder / "env"],
                      ["pip", "install", "--python", python, "--constraint", lock, wheel]):  # fmt: skip
            done = subprocess.run([uv, *words], check=False, capture_output=True, text=True, env=environment())
            assert done.returncode == 0, done.stderr

    return once(tmp_path_factory, "base", install) / "env" / "bin" / "python"


def alone() -> dict[str, str]:
    """An environment in which the checkout is not on the path."""
    return {"PYTHONPATH": ""}


def test_every_reading_command_answers_as_it_does_with_everything_installed(
    base: Path,
    nights: dict[int, Night],
    report_file: Path,
    workbook_of: Callable[[str, str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (lean := tmp_path / "lean").mkdir()
    (full := tmp_path / "full").mkdir()
    data = nights[2].copy(tmp_path / "data")
    asked = {name: words for name, words in questions().items() if name not in ASKS_THE_SOURCES}
    assert len(asked) > 10
    done = subprocess.run(
        [base, ask_everything.__file__, str(data), json.dumps(asked)], cwd=lean, env=environment(alone()), check=False,
        capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(full)
    # The report and the workbook take long: everything installed has written them once for all tests.
    written_once = {"report": report_file, "export xlsx": workbook_of("us", "USD")}
    for name, file in written_once.items():
        (full / asked[name][1]).mkdir()
        shutil.copy(file, full / asked[name][1])
    others = {name: words for name, words in asked.items() if name not in written_once}
    here, there = json.loads(done.stdout), ask_everything.answers(str(data), others)
    for name in asked:
        assert name in written_once or here[name] == there[name], name
        status, out, err = here[name]
        # A pipe gets the rows alone; what the table is called stands on standard error.
        assert status in (0, 3), here[name]  # 3: a source of this night has failed
        assert len(err.splitlines()) <= 2, err
        assert "Traceback" not in err
        assert out.strip(), name
    written = {path.relative_to(lean) for path in lean.rglob("*") if path.is_file()}
    assert written == {path.relative_to(full) for path in full.rglob("*") if path.is_file()}
    assert {path.suffix for path in written} >= {".csv", ".xlsx", ".parquet", ".html"}
    for path in written:
        if path.suffix == ".xlsx":  # its XML is written by lxml where that is there, and says the same
            assert cells(lean / path) == cells(full / path), path
        elif (
            path.suffix != ".parquet" or not IS_DUCKDB_1
        ):  # the lean one has the lock's DuckDB, which is named in the file
            assert (lean / path).read_bytes() == (full / path).read_bytes(), path


def cells(path: Path) -> dict[str, list[tuple[object, ...]]]:
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in openpyxl.load_workbook(path)}


def test_a_command_that_needs_the_other_part_says_so_in_one_sentence_and_touches_nothing(
    base: Path, nights: dict[int, Night], tmp_path: Path
) -> None:
    (tmp_path / "prices.csv").write_text("a,b\n1,2\n")
    data = nights[1].copy(tmp_path / "data")
    for folder, name, *words in ((tmp_path / "none", "refresh", "--sample", "--engine", "plain"),
                                 *((data, name, *words) for name, words in NEEDS_NIGHTLY.items())):  # fmt: skip
        answer = ask([str(base.with_name("gpuledger"))], [name, *words], folder, tmp_path, alone())
        assert (answer.status, answer.out) == (1, "")
        assert answer.err == (
            f"gpuledger: `{name}` needs the nightly part, which is not installed: pip install 'gpuledger[nightly]'\n"
        )
    assert not (tmp_path / "none").exists()


def test_a_rebuild_with_something_to_build_says_so_and_leaves_the_warehouse(
    base: Path, nights: dict[int, Night], tmp_path: Path
) -> None:
    command, data = [str(base.with_name("gpuledger"))], nights[1].copy(tmp_path / "data")
    pin = ["alias", "add", "a card of ours", "nvidia-geforce-rtx-4090", "--reason", "a test"]
    assert ask(command, pin, data, tmp_path, alone()).status == 0
    before = sorted(path.name for path in (data / "versions").iterdir())
    answer = ask(command, ["rebuild", "--full"], data, tmp_path, alone())
    assert answer.status == 1
    assert answer.err == (
        "gpuledger: `rebuild` needs the nightly part, which is not installed: pip install 'gpuledger[nightly]'\n"
    )
    assert sorted(path.name for path in (data / "versions").iterdir()) == before
    assert ask(command, ["value", "sd-512-image-generation"], data, tmp_path, alone()).status == 0


def test_help_completion_and_doctor_need_nothing_more(base: Path, nights: dict[int, Night], tmp_path: Path) -> None:
    command, data = [str(base.with_name("gpuledger"))], nights[1].data
    helped = ask(command, ["--help"], data, tmp_path, alone())
    assert (helped.status, helped.err) == (0, "")
    assert "refresh" in helped.out
    assert ask(command, ["refresh", "--help"], data, tmp_path, alone()).status == 0
    asked = {"COMP_WORDS": "gpuledger ref", "COMP_CWORD": "1", "_GPULEDGER_COMPLETE": "bash_complete"}
    assert ask(command, [], data, tmp_path, {**alone(), **asked}).out.strip() == "plain,refresh"
    doctor = ask(command, ["doctor", "--format", "json"], data, tmp_path, alone())
    assert doctor.status == 1
    found = {check["check"]: check for check in json.loads(doctor.out)}
    assert "prefect" in found["packages"]["seen"]
    assert {name for name, check in found.items() if check["grade"] == "failure"} == {"packages"}


def test_only_a_package_of_the_other_part_is_said_to_be_missing_from_it(base: Path, tmp_path: Path) -> None:
    """Every library that the rooms import is in the base or known for one of the other part; a slip stays a traceback."""
    ours = {one.module.split(".")[0] for one in imports()}
    libraries = sorted(ours - sys.stdlib_module_names - {*ROOMS, "gpuledger"})
    assert {"duckdb", "bs4", "great_expectations"} <= set(libraries)
    script = """
import importlib.util, json, sys
from gpuledger.flows.settings import parts
def of_part(name):
    return parts.part_of(ModuleNotFoundError(name=name)) is not None
print(json.dumps({name: of_part(name) for name in sys.argv[1:] if importlib.util.find_spec(name) is None}))
print(json.dumps([of_part(name) for name in ("tomlii", "gpuledger.flows.nothing", "duckdb.nothing", "rich", None)]))
"""
    done = subprocess.run(
        [base, "-c", script, *libraries], cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    missing, others = map(json.loads, done.stdout.splitlines())
    assert missing
    assert missing.keys() >= {"bs4", "great_expectations", "pandas", "prefect", "prometheus_client"}
    assert all(missing.values()), missing
    assert not any(others)
