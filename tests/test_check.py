"""`make check`: one source, table or file is proved, and nothing else runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT, environment


def check(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.check", *words], cwd=root, env=environment({"PYTHONPATH": str(root)}),
        check=False, capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that a test may break."""
    to = tmp_path_factory.mktemp("checkout")
    for folder in ("gpuledger", "extract", "expectations", "flows", "transform", "warehouse", "tests", "tools", "docs"):
        shutil.copytree(ROOT / folder, to / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", *(path.name for path in ROOT.glob("*.md"))):
        shutil.copy(ROOT / file, to)
    return to


#: What is wrong in a file of a folder: the right words, the wrong ones, and the test that tells.
Fault = tuple[str, str, str, str]


@pytest.mark.parametrize(
    ("folder", "faults"),
    [
        ("extract/sources/ebay", [
            ("contract.toml", "reason =", "why =", "test_every_source_has_a_contract[ebay]"),
            ("source.toml", 'title = "eBay"', 'title = "Second hand"', "test_what_a_source_is_called_is_korean"),
        ]),
        ("transform/models/mart/value", [
            ("cases/frontier_and_ties.toml", "dear   | D   | 110", "dear   | D   | 90 ", "mart.value/frontier_and_ties"),
        ]),
    ],
)  # fmt: skip
def test_faults_of_one_folder_are_found_there_and_not_next_to_it(
    checkout: Path, folder: str, faults: list[Fault]
) -> None:
    for file, right, wrong, _ in faults:
        sound = (checkout / folder / file).read_text("utf-8")
        assert right in sound
        (checkout / folder / file).write_text(sound.replace(right, wrong, 1), "utf-8")
    done = check(checkout, folder)
    assert done.returncode == 1, done.stdout
    assert [told for *_, told in faults if told not in done.stdout] == []
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    name = folder.rpartition("/")[2]
    assert all(name in line for line in failed), failed


@pytest.mark.parametrize(
    ("file", "right", "wrong", "told"),
    [
        ("warehouse/schema.py", "NUMBER = ", "NUMBER = 9", "a_file_of_its_schema"),
        ("flows/commands/changes.py", 'help="', 'help="Here: ', "the_help_of_every_command_is_korean"),
        ("transform/identity/data/additions.csv", "Curacao", "Curaçao", "the_committed_file_is_what"),
        (
            "transform/sizing/models/late_2026.toml",
            "hidden_size = 4096",
            "hidden_size = 4097",
            "the_file_is_up_to_date",
        ),
    ],
)
def test_a_fault_of_one_file_is_found(checkout: Path, file: str, right: str, wrong: str, told: str) -> None:
    sound = (checkout / file).read_text("utf-8")
    (checkout / file).write_text(sound.replace(right, wrong, 1), "utf-8")
    done = check(checkout, file)
    (checkout / file).write_text(sound, "utf-8")
    assert (done.returncode, told in done.stdout) == (1, True), done.stdout


def test_a_sound_source_passes_alone() -> None:
    done = check(ROOT, "extract/sources/danawa/")
    assert done.returncode == 0, done.stdout
    assert "deselected" not in done.stdout
    assert 5 < int(re.findall(r"(\d+) passed", done.stdout)[0]) < 30


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["extract/sources/nevegg"], "did you mean: extract/sources/newegg"),
        (["transform/models/mart/valeu"], "transform/models/mart/value"),
        (["flows"], "all of them:\n  extract/sources/amazon\n"),
        (["flows/commands/shwo.py"], "did you mean: flows/commands/show.py"),
        ([], "WHAT= is no source, table, command, nor file of"),
    ],
)
def test_what_there_is_not_is_said(words: list[str], told: str) -> None:
    done = check(ROOT, *words)
    assert done.returncode == 2
    assert told in done.stderr
