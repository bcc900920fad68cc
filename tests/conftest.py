"""Fixtures that every room's tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, settings

from tests.nights import Night, build_first_night, build_nights, once, read_nights

# How long one example takes says how busy the machine is, and nothing about the code; no test asserts on time.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")


# What is collected stays: to look through it for circles while it grows is a third of what each worker needs to begin.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on there is something to find, and it is not among the tests."""
    gc.freeze()
    gc.enable()


# Before numpy is there, and for every process that a test starts: its sums are small, and threads that wait for each other
# took five times the processor that the sums take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: The environment as it is before the first test.
_ENVIRONMENT = dict(os.environ)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """After each file the environment is what it was: a command that ran in this process has set where its children search
    for code, and children of later tests would search there too. Which file follows which is another each time.
    """
    yield
    if nextitem is None or nextitem.path != item.path:
        kept = {**_ENVIRONMENT, "PYTEST_CURRENT_TEST": os.environ.get("PYTEST_CURRENT_TEST", "")}
        for name in os.environ.keys() - kept.keys():
            del os.environ[name]
        os.environ.update(kept)


def pytest_unconfigure() -> None:
    """Libraries that count what is left at the end find nothing."""
    gc.unfreeze()


#: Folders whose tests start whole nights.
_NIGHTS = {"history", "ops", "install", "flows", "walls"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow files first: the workers take files in this order, and one would end long after the other."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: 0 if item.path in slow else 1 if item.path.parent.name in _NIGHTS else 2)


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes go by the argument's name: gzip writes the second into its head, and workers must see one name of a test."""
    return argname if isinstance(val, bytes) else None


SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real pages, prices and titles beside the project; the test is skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the real pages, prices and titles (../shared/data) are not on this machine")
    return SHARED_DATA


@pytest.fixture(scope="session")
def nights(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Night]:
    """The sample's three nights as `refresh --sample --engine plain` left them, one after the other in one folder."""
    return read_nights(once(tmp_path_factory, "nights", build_nights))


@pytest.fixture(scope="session")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first night of a shop and of exchange rates alone. Copy it before you write."""
    return once(tmp_path_factory, "first-night", build_first_night) / "data"


@pytest.fixture(scope="session")
def report_file(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the second night, on which a shop failed, as the command wrote it once for all tests."""
    from tests.flows.reports import write_report

    return once(tmp_path_factory, "report", lambda folder: write_report(nights[2].data, folder)) / "index.html"


@pytest.fixture(scope="session")
def workbook_of(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """The workbook of the second night in a market and a currency, written once for all tests."""
    from click.testing import CliRunner

    from gpuledger.flows.cli import cli

    def find(market: str, currency: str) -> Path:
        def write(folder: Path) -> None:
            words = ["export", str(folder), "--format", "xlsx", "--market", market, "--currency", currency]
            done = CliRunner().invoke(cli, [*words, "--data-dir", str(nights[2].data)], catch_exceptions=False)
            assert done.exit_code == 0

        return once(tmp_path_factory, f"workbook-{market}-{currency}", write) / "gpuledger.xlsx"

    return find


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty warehouse for all tests of a file; each takes back what it did: BEGIN, and ROLLBACK."""
    from tests.support.empty import empty_warehouse

    with empty_warehouse() as con:
        con.execute("SET TimeZone = 'UTC'; SET threads = 1")
        yield con


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample's pages, free to be changed: what is asked in this process is asked of them."""
    from gpuledger.extract.sample import server
    from tests.flows.inprocess import copy_of_the_site

    folder = copy_of_the_site(tmp_path / "site")
    monkeypatch.setattr(server, "_SITE", folder)
    return folder


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Whatever language a test left in use in this process, the next one begins as a program does."""
    yield
    if (lang := sys.modules.get("gpuledger.flows.words.lang")) is not None:
        lang.use(None)
