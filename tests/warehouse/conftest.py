"""What several tests of this folder have around them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest


@pytest.fixture
def con(empty: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty warehouse; what a test does to it is taken back."""
    empty.execute("BEGIN")
    yield empty
    empty.execute("ROLLBACK")
