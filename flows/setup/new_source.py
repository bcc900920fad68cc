"""Write the stubs of a source into the checkout, in one folder: its declaration, its parser, its case and its contract."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

import gpuledger
from gpuledger.extract import source as sources

_SCAFFOLD = Path(__file__).with_name("scaffold")
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
#: What `gpuledger parse` calls any shop's page.
_TAKEN = "product"


class BadSource(ValueError):
    """The stubs cannot be written; the message says why and what would be possible. Nothing was written."""


def checkout() -> Path:
    """The folder that this program runs from. BadSource where it was installed without its tests."""
    root = Path(str(gpuledger.__file__)).resolve().parents[1]
    if not (root / "tests" / "extract").is_dir():
        raise BadSource(f"{root} is no checkout of the project: a source is added where its tests are")
    return root


def write(name: str, url: str, root: Path) -> list[Path]:
    """Write the five stubs of a source called `name` that starts at `url` below `root`; their paths.

    Raises BadSource for a name that is none or taken, and for an address that is not https.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise BadSource(f"{name!r} cannot be a source's name: lower-case words joined by _, such as my_shop")
    if name in {*sources.names(), _TAKEN}:
        raise BadSource(f"the name {name!r} is taken; known are {', '.join(sorted({*sources.names(), _TAKEN}))}")
    parts = urlsplit(url)
    # The address is written into a Python, a JSON and a TOML file.
    if parts.scheme != "https" or not parts.hostname or re.search(r"[\s\"'\\<>]", url):
        raise BadSource(f"{url!r} is no https address; give that of the first page to read")
    folder = root / "extract" / "sources" / name
    targets = {
        "source.py.txt": folder / "__init__.py",
        "pages.py.txt": folder / "pages.py",
        "listing.html": folder / "cases" / "listing.html",
        "listing.json": folder / "cases" / "listing.json",
        "contract.toml": folder / "contract.toml",
    }
    there = [path for path in targets.values() if path.exists()]
    if there:
        raise BadSource(
            f"{', '.join(str(path.relative_to(root)) for path in there)} is there already; move it away first"
        )
    placeholders = {"name": name, "url": url, "homepage": f"https://{parts.netloc}/"}
    for stub, path in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template((_SCAFFOLD / stub).read_text("utf-8")).substitute(placeholders), "utf-8")
    return list(targets.values())
