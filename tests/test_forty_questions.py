"""The page of the most likely questions says what the program answers now."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("forty_questions", DOCS / "forty_questions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up by name
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_program_answers(script: ModuleType) -> None:
    written = (DOCS / "forty-questions.md").read_text(encoding="utf-8")
    assert script.page() == written, "run `python docs/forty_questions.py`"
    assert written.count("\n| 4") >= 5, "forty questions and more"
