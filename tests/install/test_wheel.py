"""The wheel holds what the program opens and nothing else, and runs outside the checkout, beside folders of other people
that are called as ours are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.command import ROOT, environment
from tests.install.built import ASKS_THE_SOURCES, ask, build, questions
from tests.test_architecture import ROOMS


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums; without the list of them, which says the same."""
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.CRC for one in archive.infolist() if not one.filename.endswith("/RECORD")}


def test_it_holds_the_rooms_and_nothing_else(wheel: Path) -> None:
    ours = {
        f"gpuledger/{path.relative_to(ROOT).as_posix()}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        # What a source and a table are tested with stays behind.
        if path.is_file() and not {"__pycache__", "cases"} & {*path.parts}
    }
    ours |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "gpuledger").iterdir() if path.is_file()}
    found = {name for name in contents(wheel) if ".dist-info/" not in name}
    assert {Path(name).suffix for name in ours} >= {".py", ".sql", ".toml", ".html", ".csv", ".po", ".xml"}
    assert found - ours == set()
    assert ours - found == set()


def test_what_is_not_ours_is_left_out(tmp_path: Path) -> None:
    """From a copy of the checkout in which somebody has worked."""
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for name in ("gpuledger/__init__.py", "gpuledger/__main__.py", "flows/kept.py", "flows/__pycache__/kept.pyc",
                 "warehouse/left.duckdb.wal", "tests/test_x.py", "docs/x.md", "data/gpuledger.duckdb"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('__version__ = "1"\n')
    for room in ROOMS:
        (tmp_path / room).mkdir(exist_ok=True)
        (tmp_path / "gpuledger" / room).symlink_to(f"../{room}")
    build("wheel", tmp_path / "dist", tmp_path)
    found = contents(next((tmp_path / "dist").glob("*.whl")))
    assert {name for name in found if ".dist-info/" not in name} == {
        "gpuledger/__init__.py", "gpuledger/__main__.py", "gpuledger/flows/kept.py"
    }  # fmt: skip


def test_the_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    build("sdist", tmp_path)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    build("wheel", tmp_path / "again", source)
    assert contents(next((tmp_path / "again").glob("*.whl"))) == contents(wheel)


@pytest.mark.slow
def test_it_runs_outside_the_checkout_beside_folders_called_as_ours(wheel: Path, tmp_path: Path) -> None:
    installed, theirs = tmp_path / "installed", tmp_path / "theirs"
    zipfile.ZipFile(wheel).extractall(installed)
    for room in (*ROOMS, "tests"):
        (theirs / room).mkdir(parents=True)
        (theirs / room / "__init__.py").write_text("raise RuntimeError('somebody else’s')\n")
    # Without `site`, so that the libraries are found and the link to the checkout that lies beside them is not followed.
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    env = {"PYTHONPATH": os.pathsep.join([str(installed), str(theirs), *libraries])}
    where = subprocess.run(
        [sys.executable, "-S", "-c", "import sys, gpuledger.flows as it; print(it.__file__, *sys.path, sep='\\n')"],
        cwd=theirs, env=environment(env), check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    assert Path(where[0]).is_relative_to(installed)
    assert str(ROOT) not in where[1:]

    command, data = [sys.executable, "-S", "-m", "gpuledger"], tmp_path / "data"
    only = [f"--only={name}" for name in ("ecb_fx", "newegg", "toms_ai_articles")]
    first = ask(command, ["refresh", "--sample", "--engine", "plain", *only], data, theirs, env)
    assert first.status == 0, first.err
    assert "Traceback" not in first.err
    # All other questions are asked of an environment that has this wheel and the libraries of the base alone.
    for name in sorted(ASKS_THE_SOURCES | {"value", "value in Korean"}):
        answer = ask(command, questions()[name], data, theirs, env)
        assert answer.status == 0, f"{name}: {answer}"
        assert "Traceback" not in answer.err
        assert answer.out.strip(), name
