"""`make sbom`: what the program is made of. A bill of materials (CycloneDX 1.6, JSON) and a list of licences.

From requirements.lock, which names every package with its hashes, and from the packages' own metadata as installed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LINE = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
#: Long texts stand in this field of some packages.
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Package:
    """One locked package. `licence` is as its makers say it, None where it is not installed here or they say nothing."""

    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str | None
    is_installed: bool


def packages(lock: str) -> list[Package]:
    """What a lock names, by name. Raises ValueError for a lock without one package."""
    locked = []
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock):
        if match := _LINE.match(block):
            name, version = re.sub(r"[-_.]+", "-", match["name"]).lower(), match["version"]
            try:
                about = metadata.metadata(name)
            except metadata.PackageNotFoundError:
                about = None
            licence = _licence(about) if about is not None else None
            locked.append(Package(name, version, tuple(sorted(_HASH.findall(block))), licence, about is not None))
    if not locked:
        raise ValueError("the lock names no package")
    return sorted(locked, key=lambda package: (package.name, package.version))


def _licence(about: metadata.PackageMetadata) -> str | None:
    """The licence expression (PEP 639), else the short field, else the classifiers."""
    for field in ("License-Expression", "License"):
        text = str((about.get_all(field) or [""])[0]).strip()
        if text and len(text) <= _LONGEST_NAME and "\n" not in text and text.upper() != "UNKNOWN":
            return text
    classifiers = [
        line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    return " and ".join(classifiers) or None


def bill(locked: list[Package], version: str) -> dict[str, object]:
    """The bill of materials. The same lock gives the same bytes: it holds no time and no number drawn by chance."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "name": "gpuledger", "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [
            {
                "type": "library", "bom-ref": f"pkg:pypi/{p.name}@{p.version}", "name": p.name, "version": p.version,
                "purl": f"pkg:pypi/{p.name}@{p.version}",
                **({"licenses": [{"license": {"name": p.licence}}]} if p.licence else {}),
                # Of every file of the release that the lock takes, one for each system and Python.
                "properties": [{"name": "gpuledger:lock:sha256", "value": sha256} for sha256 in p.hashes],
            }
            for p in locked
        ],
    }  # fmt: skip


def licences(locked: list[Package]) -> Iterator[str]:
    """The list of licences, as Markdown; a package whose licence is not known says so."""
    yield "# Licences of what gpuledger is installed with"
    yield ""
    yield "| package | version | licence |"
    yield "|---|---|---|"
    for p in locked:
        unknown = "not said in its metadata" if p.is_installed else "not installed on this system"
        yield f"| {p.name} | {p.version} | {(p.licence or unknown).replace('|', '/')} |"


def main() -> int:
    """Write sbom.cdx.json and licences.md into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements.lock")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from gpuledger import __version__

    locked = packages(arguments.lock.read_text(encoding="utf-8"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("sbom.cdx.json", json.dumps(bill(locked, __version__), indent=1)),
        ("licences.md", "\n".join(licences(locked))),
    ):
        (arguments.folder / name).write_text(text + "\n", encoding="utf-8")
        print(arguments.folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
