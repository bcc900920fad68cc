"""Data directories as earlier programs left them, one for each schema: `schemas/<number>.tar.xz`.

`python -m tests.history.kept` adds that of this program: three nights of a few sources, the first two of them folded into a
baseline by a vacuum. A file that is here stays as it is, as there are warehouses of that schema.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

from gpuledger.extract.sample import server
from gpuledger.warehouse import schema
from gpuledger.warehouse.paths import DataDir
from tests.command import succeeds
from tests.flows.inprocess import copy_of_the_site, refresh

FOLDER = Path(__file__).with_name("schemas")
NUMBERS = sorted(int(path.name.split(".")[0]) for path in FOLDER.glob("*.tar.xz"))
SOURCES = ("ecb_fx", "gpu_wiki_cloud", "newegg", "toms_ai_articles")
#: What a data directory can do without: `unpack` brings the base back.
_LEFT_OUT = ("exports", "state/base.duckdb", "snapshots/parsed")


def unpack(number: int, to: Path) -> DataDir:
    """The data directory of a schema, ready for the next run."""
    with tarfile.open(FOLDER / f"{number}.tar.xz") as kept:
        kept.extractall(to, filter="tar")
    data = DataDir(to)
    shutil.copyfile(data.published, data.base)
    return data


def keep(folder: Path) -> Path:
    """Make the data directory of this program's schema, and pack it."""
    root = folder / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_SITE", copy_of_the_site(folder / "site"))
        for night in (1, 2, 3):
            refresh(root, night, only=SOURCES)
            # A vacuum folds nights only if it can forget a page of theirs: one of which no row changed.
            page = folder / "site" / "gpu_wiki_cloud" / "sample" / "night1" / "wiki" / "GPU.html"
            page.write_text(page.read_text(encoding="utf-8") + f"<!-- {night} -->", encoding="utf-8")
    succeeds("vacuum", "--keep-days", 0, "--keep-versions", 2, data=root)
    data = DataDir(root)
    assert data.baseline.exists()
    for version in data.versions.iterdir():
        if version != data.published.resolve().parent:
            shutil.rmtree(version)
    for name in _LEFT_OUT:
        path = root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    FOLDER.mkdir(exist_ok=True)
    with tarfile.open(FOLDER / f"{schema.NUMBER}.tar.xz", "w:xz", preset=9) as kept:
        kept.add(root, arcname=".")
        return Path(kept.name or "")


if __name__ == "__main__":
    if schema.NUMBER in NUMBERS:
        sys.exit(f"schema {schema.NUMBER} is kept already: raise NUMBER in warehouse/schema.py")
    with tempfile.TemporaryDirectory() as made_in:
        print(keep(Path(made_in)))  # noqa: T201
