"""What several files of tests about the commands read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.nights import Night


@pytest.fixture(scope="session")
def data(nights: dict[int, Night]) -> Path:
    """The data directory after the second night. For reading alone; files of other nights have their own."""
    return nights[2].data
