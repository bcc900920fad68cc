"""The page of the most likely questions says what the program answers now."""

from __future__ import annotations

import itertools
from types import ModuleType

import pytest

from tests.support.scripts import DOCS, script_of_docs


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return script_of_docs("forty_questions")


def test_the_page_is_what_the_program_answers(script: ModuleType) -> None:
    written = (DOCS / "forty-questions.md").read_text(encoding="utf-8")
    assert script.page() == written, "run `python docs/forty_questions.py`"
    assert written.count("\n| 4") >= 5, "forty questions and more"


def _rows() -> list[list[str]]:
    lines = (DOCS / "forty-questions.md").read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:3].strip("| ").isdigit()]


def test_nobody_pays_for_speed_that_is_hardly_more() -> None:
    """A larger budget that buys other cards buys more than a twentieth of speed with them."""
    chosen = [row for row in _rows() if row[8]]
    assert len(chosen) > 25
    for one, other in itertools.pairwise(chosen):
        same = one[1] == other[1] and one[8] != other[8] and "the least" not in (one[2], other[2])
        speeds = [float(row[6].split()[0]) for row in (one, other)]
        assert not same or speeds[1] >= 1.05 * speeds[0], (one, other)


def test_what_a_budget_lacks_is_what_the_row_of_the_least_outlay_says() -> None:
    rows = _rows()
    lacking = [(before, row) for before, row in itertools.pairwise(rows) if row[3].startswith("nothing; from")]
    assert lacking
    for before, row in lacking:
        assert row[3] == f"nothing; from {before[8]} with {before[3]}"
        assert before[1] == row[1]


def test_no_cards_are_bought_for_the_memory_of_the_machine_around_them() -> None:
    """One card and a machine with memory hold the experts of a mixture as well as six cards in that machine."""
    row = next(row for row in _rows() if row[1] == "deepseek-v3 Q4_K_M" and row[2] == "the least")
    assert "×" not in row[3]
    assert row[4] == "4U server"
    assert "394 GB, with the processor" in row[11]
