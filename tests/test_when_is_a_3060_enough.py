"""The page on when an RTX 3060 is enough says what the sample's warehouse says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

from gpuledger.warehouse.paths import DataDir
from tests.nights import Night

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("when_is_a_3060_enough", DOCS / "when_is_a_3060_enough.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up by name
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_first_night_says(script: ModuleType, nights: dict[int, Night]) -> None:
    written = (DOCS / "when-is-a-3060-enough.md").read_text(encoding="utf-8")
    assert script.page(DataDir(nights[1].data)) == written, "run `make docs`"


def test_a_sentence_that_is_no_longer_true_is_not_written(
    script: ModuleType, nights: dict[int, Night], tmp_path: Path
) -> None:
    """A 3060 that costs ten times as much is not the best for text any more, and the page must not say so."""
    data = DataDir(nights[1].copy(tmp_path / "data"))
    file = data.published.resolve()
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("UPDATE mart.value SET price_usd = price_usd * 10 WHERE gpu_id = 'nvidia-geforce-rtx-3060-12gb'")
    with pytest.raises(AssertionError):
        script.page(data)
