"""What every test of this folder has around it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from flows import logs


@pytest.fixture(autouse=True)
def _quiet_afterwards() -> Iterator[None]:
    """A test that sets the program's log up leaves it as it was."""
    names = (logs.NAME, *logs.LIBRARIES)
    before = [(log.handlers[:], log.level, log.propagate) for log in map(logging.getLogger, names)]
    yield
    for name, (handlers, level, propagate) in zip(names, before, strict=True):
        log = logging.getLogger(name)
        log.handlers[:], log.level, log.propagate = handlers, level, propagate
