"""The parts that the program is installed in: what somebody needs who only asks, and with `nightly` all the rest.

Which packages are of the nightly part stands in pyproject.toml alone; an installed program has it in its metadata.
"""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata

#: The module of a package, where it is not called as the package is.
_PACKAGE_OF = {"bs4": "beautifulsoup4"}


class NotInstalled(Exception):
    """A command needs the nightly part. Exit status 1: the words were right, and nothing was done."""

    def __init__(self, command: str) -> None:
        super().__init__(f"`{command}` needs the nightly part, which is not installed: {INSTALL}")


INSTALL = "pip install 'gpuledger[nightly]'"


def nightly() -> set[str]:
    """Names of the packages that the nightly part asks for; empty where the program runs without being installed."""
    try:
        requires = metadata.requires("gpuledger") or []
    except metadata.PackageNotFoundError:
        return set()
    of_part = (text for text in requires if re.search(r"""extra\s*==\s*['"]nightly['"]""", text))
    return {_normal(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in of_part}


def missing() -> list[str]:
    """Packages of the nightly part that are not installed."""
    installed = {_normal(found.name) for found in metadata.distributions()}
    return sorted(nightly() - installed)


def is_of_nightly(error: ModuleNotFoundError) -> bool:
    """Whether the module is missing because its package, one of the nightly part, is; any other is a fault to be seen."""
    module = (error.name or "").partition(".")[0]
    return _normal(_PACKAGE_OF.get(module, module)) in missing() and importlib.util.find_spec(module) is None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
