"""The READMEs begin with a question and with the answer that the program gives to it, and they are short."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("language", "readme"), [("en", "README.md"), ("ko", "README.ko.md")])
def test_a_readme_begins_with_a_question_and_its_answer(language: str, readme: str) -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    text = (ROOT / readme).read_text(encoding="utf-8")
    answer = generate.first_answer(language)
    assert generate.fill(text, "answer", answer) == text, "run `make docs`"
    assert len(answer.splitlines()) <= 3 + 24, "a small screen of lines below the question"
    places = [text.index(part) for part in ("$ gpuledger", "pip install", "make demo", "docs/images/")]
    assert places == sorted(places)
    assert len(text.split()) <= 500
