"""The questions in `examples/` are answered by the warehouse that the sample gives, and say what they ask."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from gpuledger.warehouse.bounded_query import user_query
from gpuledger.warehouse.paths import DataDir
from tests.command import ROOT
from tests.nights import Night

NOTEBOOK = ROOT / "examples" / "is-this-the-card-to-buy.ipynb"
QUESTIONS = sorted((ROOT / "examples").glob("*.sql"))


def test_there_are_twenty() -> None:
    assert len(QUESTIONS) == 20


@pytest.mark.parametrize("file", QUESTIONS, ids=lambda file: file.stem)
def test_a_question_has_an_answer_and_says_what_it_asks(nights: dict[int, Night], file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("-- ")
    assert text.splitlines()[0].endswith("?")
    columns, rows = user_query(DataDir(nights[2].data), text)
    assert rows, "a question that has no answer shows nothing"
    assert len(set(columns)) == len(columns)


def test_every_cell_of_the_notebook_runs_and_shows_rows(
    nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process and without Jupyter: its format is JSON, and a cell shows what its last line is."""
    monkeypatch.setenv("GPULEDGER_DATA_DIR", str(nights[2].data))
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for cell in cells:
        *lines, last = ast.parse(cell).body
        assert isinstance(last, ast.Expr), f"it shows nothing:\n{cell}"
        exec(compile(ast.Module(lines, []), NOTEBOOK.name, "exec"), names)
        shown = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
        assert shown.fetchall(), f"it shows no row:\n{cell}"
    names["con"].close()
    assert len(cells) >= 8
    assert not any(cell.get("outputs") for cell in notebook["cells"]), "clear its outputs: they are of somebody's data"
