"""Fingerprints of code and data files. They show whether stored results that follow from the files are up to date."""

from __future__ import annotations

from pathlib import Path

from gpuledger.warehouse.schema import hash_text

_KINDS = {".py", ".toml", ".csv", ".gz"}


def version_of(*places: Path) -> str:
    """Fingerprint of the files in `places`, and of all code and data files below the folders in `places`."""
    files = sorted(
        path for place in places for path in ([place] if place.is_file() else place.rglob("*")) if path.suffix in _KINDS
    )
    return hash_text("".join(hash_text(path.read_bytes().hex()) for path in files))
