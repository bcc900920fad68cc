"""Fixtures that every room's tests share."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.nights import Night, build_nights, once, read_nights
from tests.readings import Readings, readings

# How long one example takes says how busy the machine is, and nothing about the code; no test asserts on time.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")


# What is collected stays: to look through it for circles while it grows is a third of what each worker needs to begin.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on there is something to find, and it is not among the tests."""
    gc.freeze()
    gc.enable()


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
def readings_of_pictures(tmp_path_factory: pytest.TempPathFactory) -> Readings:
    """What the real reader makes of a picture of a chart: called like `apart.read_chart`, it reads each picture once."""
    return readings(tmp_path_factory)
