"""The lock is closed: it can be installed without resolving, since whatever anybody in it asks for is in it."""

from __future__ import annotations

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.command import ROOT
from tests.install.locks import (
    BUILD_LOCK,
    LOCK,
    NIGHT_LOCK,
    PROJECT,
    blocks,
    declared,
    environment,
    here,
    pins,
    walk,
    without,
)

#: Where the markers of the lock and of its packages change: 3.11.3 and 3.11.5 have their own pins.
PYTHONS = ("3.11.0", "3.11.4", "3.11.7", "3.12.0", "3.13.0", "3.14.0")


def test_everything_that_is_asked_for_is_locked_for_the_python_that_runs() -> None:
    assert walk(LOCK, here(), declared()).faults == []


@pytest.mark.parametrize("python", PYTHONS)
def test_everything_that_is_asked_for_is_locked_for_every_python(python: str) -> None:
    assert walk(LOCK, environment(python), declared()).faults == []


def test_what_is_installed_is_what_is_locked() -> None:
    """So that the metadata that the other tests read are those of the locked versions."""
    locked = {pin.name: str(pin.version) for pin in pins(LOCK + BUILD_LOCK) if pin.holds(here())}
    there = {canonicalize_name(one.name): one.version for one in metadata.distributions()}
    # The suite is run on other versions of DuckDB too; it asks for nothing.
    locked.pop("duckdb")
    assert {name: there.get(name) for name in locked} == locked


def test_nothing_is_locked_that_nobody_asks_for() -> None:
    # What builds is asked for by packages that come as source.
    locked = {pin.name for pin in pins(LOCK) if pin.holds(here())}
    assert locked == walk(LOCK, here(), declared()).reached.keys()


def test_extras_are_followed() -> None:
    reached = walk(LOCK, here(), declared()).reached
    asked = {name: extras - {""} for name, extras in reached.items() if extras != {""}}
    assert asked["sqlalchemy"] >= {"asyncio"}
    assert asked["py-key-value-aio"] >= {"memory", "redis"}
    # And the lock keeps them, for whoever resolves it all the same.
    kept = {pin.name: {canonicalize_name(extra) for extra in pin.requirement.extras} for pin in pins(LOCK)}
    for name, extras in asked.items():
        offered = {canonicalize_name(one) for one in metadata.metadata(name).get_all("Provides-Extra") or ()}
        assert extras & offered <= kept[name], name


@pytest.mark.parametrize(
    ("name", "asker"),
    [
        ("anyio", "starlette"),  # asked for plainly
        ("greenlet", "sqlalchemy 2"),  # for an extra of sqlalchemy alone
        ("hypothesis", "the project"),  # for the tests alone
        ("execnet", "pytest-xdist"),  # by what is for the tests alone
        ("hatchling", "the project"),  # to build
    ],
)
def test_a_missing_package_is_named_with_who_asks_for_it(name: str, asker: str) -> None:
    lock = without(LOCK, name)
    assert len(list(blocks(lock))) < len(list(blocks(LOCK)))
    faults = walk(lock, here(), declared()).faults
    assert any(fault.startswith(asker) and fault.endswith(f": the lock lacks {name}") for fault in faults), faults
    assert all(f" {name}" in fault for fault in faults)


def test_a_version_out_of_range_is_named_with_who_asks_for_it() -> None:
    lock = re.sub(r"^fastapi==\S+", "fastapi==99.0", LOCK, flags=re.M)
    assert lock != LOCK
    faults = walk(lock, here(), declared()).faults
    assert any(" wants fastapi<" in fault and fault.startswith("prefect ") for fault in faults), faults
    assert all("the lock has fastapi 99.0" in fault for fault in faults)


def test_a_package_that_is_locked_twice_for_one_python_is_named() -> None:
    lock = LOCK + "anyio==1.0 \\\n    --hash=sha256:00\n"
    assert any(fault.startswith("the lock has both anyio") for fault in walk(lock, here(), declared()).faults)


def test_what_builds_is_locked_whole() -> None:
    """The packages that come as source are built without a build environment of their own."""
    builders = ["setuptools", "wheel", *PROJECT["build-system"]["requires"]]
    assert walk(BUILD_LOCK, here(), [Requirement(text) for text in builders]).faults == []
    versions = {pin.name: pin.version for pin in pins(LOCK)}
    assert all(versions.get(pin.name, pin.version) == pin.version for pin in pins(BUILD_LOCK)), "both locks install it"


@pytest.mark.parametrize("python", PYTHONS)
def test_a_night_finds_what_it_needs_in_a_lock_of_its_own(python: str) -> None:
    """With the versions of the other lock, which is installed over it, and with nothing that no night needs."""
    project, where = PROJECT["project"], environment(python)
    walked = walk(
        NIGHT_LOCK,
        where,
        [Requirement(text) for text in (*project["dependencies"], *project["optional-dependencies"]["nightly"])],
    )
    assert walked.faults == []
    locked = {pin.name: pin.version for pin in pins(NIGHT_LOCK) if pin.holds(where)}
    assert locked.keys() == walked.reached.keys()
    assert locked.items() <= {pin.name: pin.version for pin in pins(LOCK) if pin.holds(where)}.items()


def test_there_is_one_way_to_install() -> None:
    """make's; only the image, which has no make, writes the same options out. It is read-only, so it is compiled whole."""
    (options,) = re.findall(r"^LOCKED := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    wanted = set(options.split()) - {"--quiet", "--no-compile"}
    assert wanted >= {"--no-deps", "--require-hashes", "--no-build-isolation"}
    folders = [ROOT / "deploy", ROOT / "docs", ROOT / ".github", ROOT / ".ci"]
    paths = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*") if path.is_file())]
    found = [
        (path.name, line)
        for path in paths
        for line in re.findall(r".*pip install.*\.lock.*", path.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert [name for name, _ in found] == ["Dockerfile", "Dockerfile"]
    assert all(wanted <= set(line.split()) for _, line in found)
    assert {line.split()[-1] for _, line in found} == {"requirements-build.lock", "requirements.lock"}
