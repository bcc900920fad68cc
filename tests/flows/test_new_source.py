"""`gpuledger new-source` in a copy of the checkout: stubs that the discovery tests refuse until they are filled in."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuledger.flows.checks import new_source
from tests.command import ROOT, Outcome, environment, python_path

NAME, URL = "kettle_shop", "https://shop.kettle.test/cards/?page=1"
STUBS = (
    f"extract/sources/{NAME}/source.toml",
    f"extract/sources/{NAME}/pages.py",
    f"extract/sources/{NAME}/cases/listing.html",
    f"extract/sources/{NAME}/cases/listing.json",
    f"extract/sources/{NAME}/contract.toml",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command and the discovery tests need of this checkout."""
    to = tmp_path_factory.mktemp("checkout")
    rooms = ("gpuledger", "extract", "expectations", "flows", "transform", "warehouse")
    for folder in (*rooms, "tests/extract"):
        shutil.copytree(ROOT / folder, to / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (ROOT / "pyproject.toml", *(ROOT / "tests").glob("*.py")):
        shutil.copy(file, to / file.relative_to(ROOT))
    return to


def run(checkout: Path, *words: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=checkout, env=environment({"PYTHONPATH": python_path(checkout)}),
        check=False, capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def discovery(checkout: Path) -> Outcome:
    return run(checkout, "pytest", "tests/extract/test_sources.py", "-q", "-p", "no:cacheprovider", "-k", NAME)


def test_the_stubs_are_refused_until_they_are_filled_in(checkout: Path) -> None:
    written = run(checkout, "gpuledger.flows.cli", "new-source", NAME, URL)
    assert written.status == 0, written.err
    assert [line for line in written.out.splitlines() if line.startswith("/")] == [
        str(checkout / stub) for stub in STUBS
    ]
    assert all("TODO" in (checkout / stub).read_text("utf-8") for stub in STUBS)
    listed = run(checkout, "gpuledger.flows.cli", "sources", "--format", "json")
    (row,) = (row for row in json.loads(listed.out) if row["source"] == NAME)
    assert row["homepage"] == "https://shop.kettle.test/"

    refused = discovery(checkout)
    assert refused.status == 1
    assert f"test_page_gives_what_is_expected[{NAME}-listing]" in refused.out
    assert f"test_no_stub_of_a_source_is_left[{NAME}]" in refused.out

    fill_in(checkout)
    passed = discovery(checkout)
    assert passed.status == 0, passed.out


def fill_in(checkout: Path) -> None:
    """What a person does: the selectors, the words, and no TODO left."""
    declaration, parser, page, told, contract = (checkout / stub for stub in STUBS)
    text = parser.read_text("utf-8")
    for stub, done in (
        ("Locale(None, None, None)", 'Locale("US", "en", "USD")'),
        ('"todo-card"', '".card"'),
        ('text(card, "todo-title")', 'text(card, "a")'),
        ("data-todo-id", "data-id"),
        ('"todo-price"', '".price"'),
        ('"todo-stock"', '".stock"'),
        ('"todo-was-price"', '".was"'),
        ("TODO", "Done:"),
    ):
        assert stub in text, stub
        text = text.replace(stub, done)
    parser.write_text(text, "utf-8")
    # Else its title would be words, which have a Korean form in the catalogue.
    declaration.write_text(declaration.read_text("utf-8").replace("TODO the shop's name", "Kettle Shop"), "utf-8")
    for file in (declaration, page, contract):
        file.write_text(file.read_text("utf-8").replace("TODO", "Done:"), "utf-8")
    expected = json.loads(told.read_text("utf-8"))
    expected["items"][0]["title"] = "Kettle GeForce RTX 4070 12GB"
    told.write_text(json.dumps(expected), "utf-8")


def test_the_stubs_keep_the_rules_of_the_project(checkout: Path, tmp_path: Path) -> None:
    if not (checkout / STUBS[0]).exists():
        run(checkout, "gpuledger.flows.cli", "new-source", NAME, URL)
    for words in (("check",), ("format", "--check")):
        linted = run(
            checkout, "ruff", *words, "--no-cache", *(str(checkout / stub) for stub in STUBS if stub.endswith(".py"))
        )
        assert linted.status == 0, linted.out


@pytest.mark.parametrize(
    ("name", "url", "message"),
    [
        ("newegg", URL, "the name 'newegg' is taken; known are"),
        ("../up", URL, "cannot be a source's name"),
        ("class", URL, "cannot be a source's name"),
        ("other_shop", "http://shop.kettle.test/", "is no https address"),
        ("other_shop", 'https://shop.kettle.test/"+evil', "is no https address"),
        ("left_over", URL, "extract/sources/left_over/cases/listing.json is there already"),
    ],
)
def test_bad_use_is_answered_and_nothing_is_written(tmp_path: Path, name: str, url: str, message: str) -> None:
    left = tmp_path / "extract" / "sources" / "left_over" / "cases" / "listing.json"
    left.parent.mkdir(parents=True)
    left.write_text("{}", "utf-8")
    with pytest.raises(new_source.BadSource, match=re.escape(message)):
        new_source.write(name, url, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [left]
