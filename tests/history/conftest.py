"""Fixtures of the tests of history."""

from __future__ import annotations

import currency_converter
import pytest

from tests.support import few_rates


@pytest.fixture
def no_rates(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backfills of this process find a file of the bank without a day: all since 1999 take longer to load than these tests.

    Its source fails then, and prices in won have no amount in dollars.
    """
    path = few_rates.write(tmp_path_factory.mktemp("rates"), lambda day: False)
    monkeypatch.setattr(currency_converter, "CURRENCY_FILE", str(path))
