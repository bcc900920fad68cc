"""Published measurements of cards stay within the bounds, and no row of their tables is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.resolver import Resolver
from tools.measured import Excluded, Residual, measure, read_rows

TABLE = """
# Results

### Llama 3.2:3b

| System | CPU/GPU | Eval Rate | Power (Peak) |
| :--- | :--- | :--- | :--- |
| [Some PC (Nvidia RTX 4090<sup>1</sup>)](https://example.com/1) | GPU | 334.67 Tokens/s | 261.9W |
| Other PC (2x Nvidia RTX 4090) | GPU | 500.00 Tokens/s | N/A |
| Board - 8GB | CPU | 4.61 Tokens/s | 13.9W |
| Small PC (Nvidia RTX 4090) | GPU/CPU | 3.10 Tokens/s | N/A |
| Board - 8GB | GPU | 1.00 Tokens/s | 5W |
| Laptop (Integrated Something) | GPU | 9.00 Tokens/s | 5W |
| Old PC (Nvidia GTX 780 3GB) | GPU | 900.00 Tokens/s | N/A |

### Llama 3.1:70b

| System | CPU/GPU | Eval Rate | Power (Peak) |
| :--- | :--- | :--- | :--- |
| Some PC (Nvidia RTX 4090) | GPU | 3.10 Tokens/s | N/A |

### A model nobody knows

| System | CPU/GPU | Eval Rate |
| :--- | :--- | :--- |
| Some PC (Nvidia RTX 4090) | GPU | 3.10 Tokens/s |
"""


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver.load()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, resolver: Resolver) -> tuple[list[Residual], list[Excluded]]:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "one.md").write_text(TABLE, encoding="utf-8")
    # The same table in a second file adds nothing.
    (folder / "two.md").write_text(TABLE, encoding="utf-8")
    return measure(folder, resolver, Assumptions())


def test_rows_are_read_without_links_and_footnotes() -> None:
    rows = list(read_rows("one.md", TABLE))
    assert len(rows) == 9
    assert (rows[0].model, rows[0].system, rows[0].tokens_per_s) == (
        "Llama 3.2:3b",
        "Some PC (Nvidia RTX 4090)",
        334.67,
    )


def test_a_row_is_measured_or_excluded_with_its_reason(measured: tuple[list[Residual], list[Excluded]]) -> None:
    residuals, excluded = measured
    assert [(item.gpu.gpu_id, item.model_id, item.precision) for item in residuals] == [
        ("nvidia-geforce-rtx-4090", "llama-3.2-3b", "Q4_K_M"),
        ("nvidia-geforce-gtx-780-3gb", "llama-3.2-3b", "Q4_K_M"),
    ]
    assert [item.reason for item in excluded] == [
        "several cards",
        "ran on the CPU",
        "part of the model ran from the computer's memory",
        "no card named",
        "no discrete card of the catalogue: memory shared with the processor",
        "the model does not fit the card",
        "model not in the catalogue",
    ]


def test_a_measurement_beyond_the_bound_is_called_an_error(measured: tuple[list[Residual], list[Excluded]]) -> None:
    assert [item.result.verdict for item in measured[0]] == ["limited by the card", "error in data or formula"]


def test_every_published_measurement_is_within_its_bound(shared_data: Path, resolver: Resolver) -> None:
    folder = shared_data / "benchmarks"
    residuals, excluded = measure(folder, resolver, Assumptions())
    printed = {
        (row.model, row.system, row.tokens_per_s)
        for path in folder.glob("*.md")
        for row in read_rows(path.name, path.read_text(encoding="utf-8"))
    }
    assert len(residuals) + len(excluded) == len(printed)
    assert len(residuals) >= 50
    beyond = [item for item in residuals if not 0 < item.result.share <= 1]
    assert not beyond
    # Bounds that were ten times too high would be met as well: the best measured card comes near its own.
    assert max(item.result.share for item in residuals) > 0.75
