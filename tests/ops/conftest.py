"""What every test of this folder has around it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from gpuledger.flows.telling import logs


@pytest.fixture(autouse=True)
def _quiet_afterwards() -> Iterator[None]:
    """A test that sets the program's log up leaves it as it was."""
    # Apprise stays silent: a target that a test has given up may fail during the next one.
    names = {logs.NAME, *logs.LIBRARIES} - {"apprise"}
    before = [(log.handlers[:], log.level, log.propagate) for log in map(logging.getLogger, names)]
    yield
    for name, (handlers, level, propagate) in zip(names, before, strict=True):
        log = logging.getLogger(name)
        log.handlers[:], log.level, log.propagate = handlers, level, propagate
