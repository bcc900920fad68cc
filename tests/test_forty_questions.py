"""The page of the most likely questions says what the program answers now."""

from __future__ import annotations

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
