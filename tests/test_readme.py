"""The answers that the READMEs show are the ones that the sample gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.nights import Night

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("language", "readme"), [("en", "README.md"), ("ko", "README.ko.md")])
def test_the_table_of_a_readme_is_what_the_demo_prints(nights: dict[int, Night], language: str, readme: str) -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    text = (ROOT / readme).read_text(encoding="utf-8")
    assert generate.fill(text, "value", generate.value_table(nights[1].data, language)) == text, "run `make docs`"
