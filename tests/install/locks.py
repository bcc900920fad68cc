"""A lock as pins, and what is not closed about it: packages that somebody in it asks for and it does not give."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from itertools import chain

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.command import ROOT

LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
NIGHT_LOCK = (ROOT / "requirements-night.lock").read_text(encoding="utf-8")
BUILD_LOCK = (ROOT / "requirements-build.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

#: Markers' values, by name.
Environment = Mapping[str, str]


@dataclass(frozen=True)
class Pin:
    """One entry of a lock: its package, the version, and for which Pythons and systems (None: for all)."""

    name: str
    version: Version
    requirement: Requirement

    def holds(self, environment: Environment) -> bool:
        """Whether it is installed there."""
        marker = self.requirement.marker
        return marker is None or marker.evaluate(dict(environment))


@dataclass
class Walk:
    """What a walk over a lock found."""

    faults: list[str] = field(default_factory=list)
    #: Every package that was reached, with the extras that it was asked for with.
    reached: dict[str, set[str]] = field(default_factory=dict)


def environment(python: str) -> Environment:
    """The markers' values of CPython on Linux in a version such as 3.12.0."""
    minor = ".".join(python.split(".")[:2])
    there = {key: str(value) for key, value in default_environment().items()}
    return {**there, "python_version": minor, "python_full_version": python, "implementation_version": python,
            "implementation_name": "cpython", "platform_python_implementation": "CPython",
            "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}  # fmt: skip


def here() -> Environment:
    """The markers' values of the Python that runs."""
    return {key: str(value) for key, value in default_environment().items()}


@cache
def pins(lock: str) -> list[Pin]:
    """The entries of a lock's text."""
    found = []
    for line in re.findall(r"^[a-z0-9].*?(?= *\\?$)", lock, re.M):
        requirement = Requirement(line)
        (pinned,) = requirement.specifier
        found.append(Pin(canonicalize_name(requirement.name), Version(pinned.version), requirement))
    return found


def declared() -> list[Requirement]:
    """What the project asks for: to run, with every extra, and to be built."""
    project = PROJECT["project"]
    texts = chain(
        project["dependencies"],
        chain.from_iterable(project["optional-dependencies"].values()),
        PROJECT["build-system"]["requires"],
    )
    return [Requirement(text) for text in texts]


@cache
def installed(name: str) -> list[Requirement] | None:
    """What an installed package asks for, None where it is not installed."""
    try:
        return [Requirement(text) for text in metadata.distribution(name).requires or ()]
    except metadata.PackageNotFoundError:
        return None


def walk(lock: str, where: Environment, roots: Iterable[Requirement]) -> Walk:
    """Follow every requirement from the roots through the installed packages' metadata, extras included, and compare
    each with the lock's pins of that Python. Packages that are not installed here say nothing about what they ask for.
    """
    outcome = Walk()
    by_name: dict[str, Version] = {}
    for pin in pins(lock):
        if pin.holds(where) and by_name.setdefault(pin.name, pin.version) != pin.version:
            outcome.faults.append(f"the lock has both {pin.name} {by_name[pin.name]} and {pin.version}")
    waiting = [("the project", root) for root in roots if _applies(root, "", where)]
    while waiting:
        asker, wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name == PROJECT["project"]["name"]:
            continue  # an extra that names another: both are among the roots
        extras = {canonicalize_name(extra) for extra in wanted.extras}
        pinned = by_name.get(name)
        if pinned is None:
            outcome.faults.append(f"{asker} wants {wanted}: the lock lacks {name}")
            continue
        if not wanted.specifier.contains(pinned, prereleases=True):
            outcome.faults.append(f"{asker} wants {wanted}: the lock has {name} {pinned}")
        new = {"", *extras} - outcome.reached.get(name, set())
        outcome.reached.setdefault(name, set()).update(new)
        for extra in new:
            label = f"{name} {pinned}" + (f" [{extra}]" if extra else "")
            waiting += [(label, next_) for next_ in installed(name) or () if _applies(next_, extra, where)]
    outcome.faults = sorted(set(outcome.faults))
    return outcome


def _applies(wanted: Requirement, extra: str, where: Environment) -> bool:
    """Whether it is wanted there, with an extra or (the empty text) without."""
    if wanted.marker is None:
        return not extra  # what is wanted always was followed without an extra
    return wanted.marker.evaluate({**where, "extra": extra})
