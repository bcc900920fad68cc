"""The parts of the program. The core answers questions from a published warehouse. `nightly` reads sources and builds,
`mcp` answers agents, `published` takes in what others publish, and `cluster` takes pages to other machines through a store.

Only pyproject.toml says which packages belong to a part. An installed program has that in its metadata.
"""

from __future__ import annotations

import importlib.util
import re

from gpuledger.message import Failure

#: Packages by module, if the two have different names.
_PACKAGE_OF = {
    "bs4": "beautifulsoup4",
    "currency_converter": "currencyconverter",
    "minisign": "py-minisign",
}

#: The parts that can be installed by name. The first part with a missing package is the one that an error names.
PARTS = ("nightly", "mcp", "published", "cluster")


class NotInstalled(Failure):
    """A command needs a part that is missing."""

    def __init__(self, command: str, part: str = "nightly") -> None:
        super().__init__(f"`{command}` needs the {part} part, which is not installed: {install(part)}")


def install(part: str = "nightly") -> str:
    """The command that installs a part."""
    return f"pip install 'gpuledger[{part}]'"


INSTALL = install()


def packages(part: str = "nightly") -> set[str]:
    """Names of the packages that a part requires; empty if the program runs without being installed."""
    # Imported here, as every command imports this module and few need the metadata: it imports `email` and takes 35 ms.
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
    """The part to which the missing module belongs; None if it belongs to no part, which is a fault of the program."""
    module = (error.name or "").partition(".")[0]
    package = _normal(_PACKAGE_OF.get(module, module))
    for part in PARTS:
        if package in missing(part) and importlib.util.find_spec(module) is None:
            return part
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
