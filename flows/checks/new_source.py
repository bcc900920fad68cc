"""Write the stubs of a new source into a folder of the checkout: its declaration, its parser, its case, its contract."""

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
#: The name by which `gpuledger parse` reads any shop's page, so no source may have it.
_RESERVED = "product"


class BadSource(ValueError):
    """The stubs cannot be written, and nothing was written. The message says why and what would be possible."""


def checkout() -> Path:
    """Return the folder that this program runs from. Raises BadSource if it was installed without its tests."""
    root = Path(str(gpuledger.__file__)).resolve().parents[1]
    if not (root / "tests" / "extract").is_dir():
        raise BadSource(f"{root} is no checkout of the project: a source is added where its tests are")
    return root


def write(name: str, url: str, root: Path) -> list[Path]:
    """Write the five stubs of a source called `name` that starts at `url` below `root`. Returns their paths.

    Raises BadSource for a name that is not valid or already in use, and for an address that is not https.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise BadSource(f"{name!r} cannot be a source's name: lower-case words joined by _, such as my_shop")
    if name in {*sources.names(), _RESERVED}:
        raise BadSource(f"the name {name!r} is taken; known are {', '.join(sorted({*sources.names(), _RESERVED}))}")
    parts = urlsplit(url)
    # The address is written into a Python, a JSON and a TOML file.
    if parts.scheme != "https" or not parts.hostname or re.search(r"[\s\"'\\<>]", url):
        raise BadSource(f"{url!r} is no https address; give that of the first page to read")
    folder = root / "extract" / "sources" / name
    targets = {
        "source.toml": folder / "source.toml",
        "pages.py.txt": folder / "pages.py",
        "listing.html": folder / "cases" / "listing.html",
        "listing.json": folder / "cases" / "listing.json",
        "contract.toml": folder / "contract.toml",
    }
    existing = [path for path in targets.values() if path.exists()]
    if existing:
        raise BadSource(
            f"{', '.join(str(path.relative_to(root)) for path in existing)} is there already; move it away first"
        )
    placeholders = {"name": name, "url": url, "homepage": f"https://{parts.netloc}/"}
    for stub, path in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(Template((_SCAFFOLD / stub).read_text("utf-8")).substitute(placeholders), "utf-8")
    return list(targets.values())
