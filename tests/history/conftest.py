"""Fixtures of the tests of history."""

from __future__ import annotations

import zipfile
from pathlib import Path

import currency_converter
import pytest

#: The bank's days that the tests of this folder ask for; a rate counts for some days after its own.
_FIRST, _LAST = "2021-10", "2021-12"


@pytest.fixture(scope="session")
def rates_of_a_quarter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the installed package, cut to a few months: all days since 1999 take longer to load than anything here."""
    with zipfile.ZipFile(currency_converter.CURRENCY_FILE) as packed:
        (inner,) = packed.namelist()
        header, *lines = packed.read(inner).decode().splitlines()
    kept = [header, *(line for line in lines if _FIRST <= line[: len(_FIRST)] <= _LAST)]
    path = tmp_path_factory.mktemp("rates") / Path(currency_converter.CURRENCY_FILE).name
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(inner, "\n".join(kept))
    return path


@pytest.fixture
def few_rates(rates_of_a_quarter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backfills of this process load `rates_of_a_quarter`."""
    monkeypatch.setattr(currency_converter, "CURRENCY_FILE", str(rates_of_a_quarter))
