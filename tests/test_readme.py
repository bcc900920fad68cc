"""The answer that the README shows is the one that the sample gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_table_of_the_readme_is_what_the_demo_prints() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert generate.fill(text, "value", generate.value_table()) == text, "run `make docs`"
