"""The questions in `examples/` are answered by the warehouse that the sample gives, and say what they ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import user_query
from tests.command import ROOT
from tests.nights import Night

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
