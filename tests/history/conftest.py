"""Fixtures of the tests of history."""

from __future__ import annotations

import zipfile
from pathlib import Path

import currency_converter
import pytest


@pytest.fixture
def no_rates(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backfills of this process find a file of the bank without a day: all since 1999 take longer to load than these tests.

    Its source fails then, and prices in won have no amount in dollars.
    """
    with zipfile.ZipFile(currency_converter.CURRENCY_FILE) as packed:
        (inner,) = packed.namelist()
        header, _, _ = packed.read(inner).decode().partition("\n")
    path = tmp_path_factory.mktemp("rates") / Path(currency_converter.CURRENCY_FILE).name
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(inner, header)
    monkeypatch.setattr(currency_converter, "CURRENCY_FILE", str(path))
