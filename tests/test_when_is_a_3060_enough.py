"""The page on when an RTX 3060 is enough says what the sample's warehouse says."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import duckdb
import pytest

from gpuledger.warehouse.paths import DataDir
from tests.nights import Night
from tests.support.scripts import DOCS, script_of_docs


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return script_of_docs("when_is_a_3060_enough")


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
