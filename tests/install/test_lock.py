"""The lock is closed: it can be installed without resolving, since whatever anybody in it asks for is in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.command import ROOT
from tests.command import environment as own_environment
from tests.install.locks import (
    BUILD_LOCK,
    LOCK,
    NIGHT_LOCK,
    PROJECT,
    declared,
    environment,
    here,
    pins,
    walk,
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
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.M)
    lock = "".join(block for block in blocks if not re.match(rf"{name}(\[|==)", block))
    assert lock != LOCK
    faults = walk(lock, here(), declared()).faults
    assert any(fault.startswith(asker) and fault.endswith(f": the lock lacks {name}") for fault in faults), faults
    assert all(f" {name}" in fault for fault in faults)


def test_a_version_out_of_range_is_named_with_who_asks_for_it() -> None:
    lock = re.sub(r"^fastapi==\S+", "fastapi==99.0", LOCK, flags=re.M)
    assert lock != LOCK
    faults = walk(lock, here(), declared()).faults
    assert any(" wants fastapi<" in fault and fault.startswith("prefect ") for fault in faults), faults
    assert all("the lock has fastapi 99.0" in fault for fault in faults)


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


# ── the bill of materials names all that is locked, with hash and licence ────────────────────────────────────────────────


def bill_of(folder: Path, *more: str) -> tuple[dict[str, object], str]:
    subprocess.run(
        [sys.executable, "tools/sbom.py", str(folder), *more],
        cwd=ROOT,
        env=own_environment(),
        check=True,
        capture_output=True,
    )
    return json.loads((folder / "sbom.cdx.json").read_text()), (folder / "licences.md").read_text()


def test_it_names_what_the_lock_names(tmp_path: Path) -> None:
    bill, licences = bill_of(tmp_path)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", lock, re.MULTILINE))
    components = bill["components"]
    assert isinstance(components, list)
    assert {(one["name"], one["version"]) for one in components} == locked
    assert len(locked) > 100
    for one in components:
        assert one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}"
        assert one["properties"], one["name"]  # hashes
        assert f"| {one['name']} | {one['version']} | " in licences
    known = [one for one in components if "licenses" in one]
    assert len(known) > 0.8 * len(components)
    assert (tmp_path / "sbom.cdx.json").read_bytes() == (
        bill_of(tmp_path / "again"),
        (tmp_path / "again" / "sbom.cdx.json"),
    )[1].read_bytes()


def test_a_package_without_a_licence_says_so(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(f"no-such-package-here==1.0 \\\n    --hash=sha256:{'a' * 64}\n", encoding="utf-8")
    bill, licences = bill_of(tmp_path, "--lock", str(lock))
    assert "no-such-package-here | 1.0 | not installed on this system" in licences
    assert "a" * 64 in json.dumps(bill)
