"""Proves one source or one table: `make check WHAT=extract/sources/newegg`, or `WHAT=transform/models/mart/value`.

Runs the tests that are about it: its cases, its contract and its words in both languages, and the test file that bears its
name, if there is one. Other rooms are for `make test`.
"""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Test files whose tests have a source or a table as parameter.
OF_SOURCES = ("tests/extract/test_sources.py", "tests/expectations/test_contracts.py")
OF_TABLES = ("tests/transform/test_models.py", "tests/expectations/test_contracts.py")


class OnlyAbout:
    """Keeps the tests with a parameter that names the source or table, and whole files that bear its name."""

    def __init__(self, folder: str, names: tuple[str, ...], own: Path) -> None:
        told = [*(rf"{re.escape(name)}(?:[-/].*)?" for name in names), rf"{re.escape(folder)}/contract\.toml"]
        self._about, self._own = re.compile("|".join(told)), own

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the others."""
        items[:] = [
            item
            for item in items
            if item.path == self._own or self._about.fullmatch(item.name.partition("[")[2].removesuffix("]"))
        ]


def known() -> list[str]:
    """Every folder that can be proved."""
    found = [*ROOT.glob("extract/sources/*/__init__.py"), *ROOT.glob("transform/models/*/*/table.toml")]
    return sorted(file.parent.relative_to(ROOT).as_posix() for file in found)


def tests_of(folder: str) -> tuple[list[str], OnlyAbout]:
    """The test files for a folder, and what is kept of them."""
    name = folder.rpartition("/")[2]
    own = ROOT / "tests" / "extract" / f"test_{name}.py"
    if folder.startswith("extract/"):
        files = [*OF_SOURCES, *([str(own.relative_to(ROOT))] if own.exists() else [])]
        return files, OnlyAbout(folder, (name,), own)
    table = f"{folder.split('/')[2]}.{name}"
    return [*OF_TABLES], OnlyAbout(folder, (table, f"main.{name}_as_of"), own)


def main(arguments: list[str]) -> int:
    """Run the tests of the folder that is named. The status is that of pytest, or 2 where there is no such folder."""
    what = arguments[0].removeprefix("./").strip("/") if arguments else ""
    folders = known()
    if what not in folders:
        near = difflib.get_close_matches(what, folders, n=3, cutoff=0.7)
        print(f"WHAT={what} is not the folder of a source or of a table", file=sys.stderr)
        print(
            f"did you mean: {', '.join(near)}" if near else "all of them:\n  " + "\n  ".join(folders), file=sys.stderr
        )
        return 2
    files, only = tests_of(what)
    return pytest.main(["-q", "--rootdir", str(ROOT), *(str(ROOT / file) for file in files)], plugins=[only])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
