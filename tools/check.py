"""Proves one source or one table: `make check WHAT=extract/sources/newegg`, or `WHAT=transform/models/mart/value`.

Runs the tests that are about it: its cases, its contract and its words in both languages, and the test file that bears its
name, if there is one. Other rooms are for `make test`. Also proves one file of the schema, of a command, of the cards or of
the models: `WHAT=flows/commands/show.py`.
"""

from __future__ import annotations

import difflib
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Test files whose tests have a source or a table as parameter.
OF_SOURCES = ("tests/extract/test_sources.py", "tests/expectations/test_contracts.py")
OF_TABLES = ("tests/transform/test_models.py", "tests/expectations/test_contracts.py")
_SCHEMA = (
    "tests/history/test_other_schemas.py::test_every_change_of_a_loaded_table_keeps_a_file_of_its_schema",
    "tests/test_docs.py::test_a_column_whose_name_says_a_unit_has_it",
    "tests/test_docs.py::test_every_word_of_the_dictionary_is_used",
    "tests/test_docs.py::test_every_description_is_a_sentence_of_its_own",
)
#: Tests of other files, by the pattern of their paths.
OF_FILES = {
    "warehouse/schema.py": _SCHEMA,
    "warehouse/dictionary.toml": _SCHEMA,
    "flows/commands/*.py": (
        "tests/test_docs.py::test_every_option_has_its_words_and_every_command_its_help",
        "tests/flows/test_lang.py::test_every_reading_command_is_asked_below",
        "tests/flows/test_lang.py::test_the_list_of_commands_is_korean_and_no_sentence_of_it_is_cut",
        "tests/flows/test_lang.py::test_the_help_of_every_command_is_korean_and_fits_the_terminal",
        "tests/flows/test_lang.py::test_every_message_in_the_code_and_the_templates_is_korean",
    ),
    "transform/identity/data/*": ("tests/transform/identity/test_catalogue.py", "tests/transform/test_seeds.py"),
    "transform/sizing/models/*.toml": ("tests/transform/test_sizing_parameters.py", "tests/transform/test_seeds.py"),
}


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
    """Every folder and file that can be proved."""
    found = [*ROOT.glob("extract/sources/*/source.toml"), *ROOT.glob("transform/models/*/*/table.toml")]
    places = [file.parent for file in found] + [file for pattern in OF_FILES for file in ROOT.glob(pattern)]
    return sorted(place.relative_to(ROOT).as_posix() for place in places)


def tests_of(folder: str) -> tuple[list[str], OnlyAbout | None]:
    """The tests for a folder or file, and what is kept of them; None for all."""
    name = folder.rpartition("/")[2]
    for pattern, tests in OF_FILES.items():
        if fnmatch(folder, pattern):
            return [*tests], None
    own = ROOT / "tests" / "extract" / f"test_{name}.py"
    if folder.startswith("extract/"):
        files = [*OF_SOURCES, *([str(own.relative_to(ROOT))] if own.exists() else [])]
        return files, OnlyAbout(folder, (name,), own)
    table = f"{folder.split('/')[2]}.{name}"
    return [*OF_TABLES], OnlyAbout(folder, (table, f"main.{name}_as_of"), own)


def main(arguments: list[str]) -> int:
    """Run the tests of the folder or file that is named. The status is that of pytest, or 2 where there is none."""
    what = arguments[0].removeprefix("./").strip("/") if arguments else ""
    folders = known()
    if what not in folders:
        near = difflib.get_close_matches(what, folders, n=3, cutoff=0.7)
        print(
            f"WHAT={what} is no source, table, command, nor file of the schema, the cards or the models",
            file=sys.stderr,
        )
        print(
            f"did you mean: {', '.join(near)}" if near else "all of them:\n  " + "\n  ".join(folders), file=sys.stderr
        )
        return 2
    files, only = tests_of(what)
    return pytest.main(
        ["-q", "--rootdir", str(ROOT), *(str(ROOT / file) for file in files)], plugins=[only] if only else []
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
