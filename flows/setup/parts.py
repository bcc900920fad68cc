"""The parts of the program: what is needed to ask a published warehouse, with `nightly` what reads and builds, and with
`charts` what reads the pictures of charts, with `browser` what renders pages that a script fills in, with `mcp` what answers
agents, and with `cluster` what several machines share.

Which packages belong to a part stands in pyproject.toml alone; an installed program has it in its metadata.
"""

from __future__ import annotations

import importlib.util
import re

#: The module of a package, where it is not called as the package is.
_PACKAGE_OF = {
    "bs4": "beautifulsoup4",
    "currency_converter": "currencyconverter",
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
}

#: What is installed by name, the larger one first.
PARTS = ("nightly", "charts", "browser", "mcp", "cluster", "iceberg")


class NotInstalled(Exception):
    """A command needs a part that is missing. Exit status 1: the words were right, and nothing was done."""

    def __init__(self, command: str, part: str = "nightly") -> None:
        super().__init__(f"`{command}` needs the {part} part, which is not installed: {install(part)}")


def install(part: str = "nightly") -> str:
    """The command that adds a part."""
    return f"pip install 'gpuledger[{part}]'"


INSTALL = install()


def packages(part: str = "nightly") -> set[str]:
    """Names of the packages that a part asks for; empty where the program runs without being installed."""
    # Every command imports this module, and few ask: reading metadata brings a package for mail, and takes 35 ms.
    from importlib import metadata

    try:
        requires = metadata.requires("gpuledger") or []
    except metadata.PackageNotFoundError:
        return set()
    of_part = (text for text in requires if re.search(rf"""extra\s*==\s*['"]{part}['"]""", text))
    return {_normal(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in of_part}


def missing(part: str = "nightly") -> list[str]:
    """Packages of a part that are not installed."""
    from importlib import metadata

    installed = {_normal(package.name) for package in metadata.distributions()}
    return sorted(packages(part) - installed)


def part_of(error: ModuleNotFoundError) -> str | None:
    """The part of the package without which the module is missing; None where it is of none: a fault to be seen."""
    module = (error.name or "").partition(".")[0]
    package = _normal(_PACKAGE_OF.get(module, module))
    for part in PARTS:
        if package in missing(part) and importlib.util.find_spec(module) is None:
            return part
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
