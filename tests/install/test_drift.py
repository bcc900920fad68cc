"""What is installed does not depend on what was released since the lock was written, with any pip.

pip takes `sqlalchemy` and `sqlalchemy[asyncio]` for two requirements. Where it resolves, and the lock names only the one,
it looks for the other in the index, and stops at a newer release that it finds there. Only newer versions of pip see that
they are one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.command import ROOT
from tests.install.index import Wheel, serving, wheel
from tests.install.locks import LOCK, declared, here, installed, pins, walk

pytestmark = pytest.mark.slow

#: The oldest pip that is supported, and the one that Python 3.11.7 brings, where they run on this Python.
OLD = [
    pytest.param(f"pip=={pip}", marks=marks)
    for pip, below, marks in (("23.0.1", (3, 12), ()), ("23.2.1", (3, 13), pytest.mark.slow_combination))
    if sys.version_info < below
]
#: And the newest, which resolves nothing that the oldest does not.
PIPS = [*OLD, pytest.param("pip", marks=pytest.mark.slow_combination if OLD else ())]
#: A build backend for the project of the test: it hands out a wheel that is there.
BACKEND = """
import pathlib, shutil
def build_editable(folder, settings=None, metadata=None):
    (wheel,) = pathlib.Path(__file__).parent.glob("*.whl")
    return shutil.copy(wheel, folder) and wheel.name
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


@dataclass(frozen=True)
class Drifted:
    """The part of the lock that is asked for with extras, and an index that has newer releases of it."""

    lock: str
    locked: dict[str, str]
    wheels: list[Wheel]


@pytest.fixture(scope="module")
def drifted() -> Drifted:
    """The lock's own lines, with the hashes of empty wheels that ask for each other as the real ones do."""
    walked = walk(LOCK, here(), declared())
    with_extras = {name for name, extras in walked.reached.items() if extras > {""}}
    # Who asks for them, with the extras or without.
    chosen = with_extras | {
        name for name in walked.reached if with_extras & {canonicalize_name(one.name) for one in installed(name) or ()}
    }
    wheels, lock, locked = [], "", {}
    for pin in pins(LOCK):
        if pin.name not in chosen or not pin.holds(here()):
            continue
        wants = [str(one) for one in installed(pin.name) or () if canonicalize_name(one.name) in chosen]
        extras = sorted(walked.reached[pin.name] - {""})
        ours = wheel(pin.name, str(pin.version), wants, extras)
        wheels.append(ours)
        line = rf"^{re.escape(pin.name)}(?:\[.*\])?=={re.escape(str(pin.version))}\b.*\n"
        lock += "".join(re.findall(line, LOCK, re.M)) + ours.entry
        locked[pin.name] = str(pin.version)
        if pin.name in with_extras:
            # Within the range that is asked for: a fix of a fix.
            wheels.append(wheel(pin.name, f"{pin.version}.post1", wants, extras))
    assert len(with_extras) >= 3
    return Drifted(lock, locked, wheels)


@pytest.fixture(params=PIPS)
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing in it but one version of pip."""
    folder, of_pip = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("installer")
    venv.create(folder, symlinks=True)
    venv.create(of_pip, with_pip=True, symlinks=True)
    install = [f"{of_pip}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*install, "--target", packages(folder), request.param], check=True)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the Makefile and an empty project."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "requirements-build.lock").write_text("")
    (tmp_path / "requirements-night.lock").write_text("")
    own = wheel("project", "1.0")
    (tmp_path / own.file).write_bytes(own.content)
    return tmp_path


def make(project: Path, environment: Path, index: str) -> subprocess.CompletedProcess[str]:
    """`make install` into the environment, from the index alone."""
    mine = ("PIP_", "MAKE", "MFLAGS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index, "PIP_NO_CACHE_DIR": "1", "NO_PROXY": "127.0.0.1"}
    call = ["make", "--always-make", "install", f"VENV={environment}", f"PYTHON={sys.executable}"]
    return subprocess.run(
        call, cwd=project, env={**kept, **alone, "no_proxy": "127.0.0.1"}, check=False, capture_output=True, text=True
    )


def packages(environment: Path) -> Path:
    """Where an environment has its packages."""
    return next(environment.glob("lib/python*/site-packages"))


def there(environment: Path) -> dict[str, str]:
    """The packages of an environment with their versions."""
    found = metadata.distributions(path=[str(packages(environment))])
    return {canonicalize_name(one.name): one.version for one in found}


def test_the_locked_versions_are_installed_whatever_was_released_since(
    drifted: Drifted, environment: Path, project: Path
) -> None:
    (project / "requirements.lock").write_text(drifted.lock)
    with serving(drifted.wheels) as index:
        done = make(project, environment, index)
    assert done.returncode == 0, done.stdout + done.stderr
    found = there(environment)
    assert {name: found.get(name) for name in drifted.locked} == drifted.locked
    assert found["project"] == "1.0"
    assert (environment / ".ready").exists()
