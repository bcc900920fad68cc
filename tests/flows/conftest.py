"""What several files of tests about the commands read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpuledger.flows.cli import cli
from tests.flows.reports import write_report
from tests.nights import Night, once


@pytest.fixture(scope="session")
def data(nights: dict[int, Night]) -> Path:
    """The data directory after the second night. For reading alone; files of other nights have their own."""
    return nights[2].data


@pytest.fixture(scope="session")
def report_file(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the second night, on which a shop failed, as the command wrote it once for all tests."""
    return once(tmp_path_factory, "report", lambda folder: write_report(nights[2].data, folder)) / "index.html"


@pytest.fixture(scope="session")
def workbook_of(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """The workbook of the second night in a market and a currency, written once for all tests."""

    def find(market: str, currency: str) -> Path:
        def write(folder: Path) -> None:
            words = ["export", str(folder), "--format", "xlsx", "--market", market, "--currency", currency]
            done = CliRunner().invoke(cli, [*words, "--data-dir", str(nights[2].data)], catch_exceptions=False)
            assert done.exit_code == 0

        return once(tmp_path_factory, f"workbook-{market}-{currency}", write) / "gpuledger.xlsx"

    return find
