"""What every test of this folder has around it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.flows.prefect_ import temporary
from gpuledger.flows.prefect_.temporary import Server
from gpuledger.flows.telling import logs
from tests.support.prefect_home import prefect_home


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


@pytest.fixture
def server(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    """A temporary Prefect server, with a home under its folder."""
    prefect_home(tmp_path_factory, tmp_path / "home")
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    with temporary.running() as found:
        found.wait()
        yield found
