"""A folder of modules that say so when they run: nothing that lies in the current folder may be run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Modules of the standard library, libraries, and rooms that a child or its libraries import late or first.
NAMES = (
    "json", "duckdb", "click", "pickle", "decimal", "prefect", "csv", "requests", "lxml", "logging", "flows",
    "sitecustomize", "usercustomize", "numpy", "cv2", "uvicorn", "sqlalchemy", "dotenv", "tests", "typing_extensions",
)  # fmt: skip


def _says_so(folder: Path, name: str) -> str:
    return f"open({str(folder / 'ran')!r}, 'a').write({name!r} + chr(10))\n"


def lay(folder: Path) -> Path:
    """Make such a folder, with an older checkout of ours and with settings of Prefect that lead to a stranger's server."""
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(_says_so(folder, name), encoding="utf-8")
    for room in ("", "extract", "warehouse", "flows"):
        (folder / "gpuledger" / room).mkdir()
        (folder / "gpuledger" / room / "__init__.py").write_text(_says_so(folder, f"gpuledger.{room}"))
    (folder / ".env").write_text("PREFECT_API_URL=http://127.0.0.1:9/api\nPREFECT_PROFILES_PATH=evil.toml\n")
    (folder / "prefect.toml").write_text('[api]\nurl = "http://127.0.0.1:9/api"\n')
    (folder / "pyproject.toml").write_text('[tool.prefect.api]\nurl = "http://127.0.0.1:9/api"\n')
    (folder / "evil.toml").write_text('active = "a"\n[profiles.a]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n')
    return folder


@contextmanager
def without_ours(folder: Path) -> Iterator[None]:
    """The folder without that package: `python -m gpuledger` runs it here before anything of ours; but nothing else."""
    (folder / "gpuledger").rename(folder / "older")
    yield
    (folder / "older").rename(folder / "gpuledger")


def ran(folder: Path) -> str:
    """The names of the modules that ran."""
    file = folder / "ran"
    return file.read_text() if file.exists() else ""
