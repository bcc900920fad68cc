"""Every sentence of an error that people may read has a Korean one, and it is found again by what it says."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.extract import errors
from gpuledger.flows.setup import lang, wrong_use

ROOT = Path(__file__).parents[2]
ROOMS = ("extract", "expectations", "warehouse", "transform", "flows")
#: Errors that say something to a programmer or to the code that called, and nothing to people.
UNSEEN = {
    "AssertionError", "AttributeError", "EOFError", "KeyError", "LookupError", "OverflowError", "RuntimeError", "TimeoutError",
    "TypeError",  # what Python says
    "BodyTooLarge", "BodyTruncated", "ConnectTimeoutError", "NameResolutionError", "NewConnectionError", "RefusedPeer", "Transient",
    "UnknownEncoding", "transient",  # what a fetch makes a FetchError of
    "BadCard", "TooMuch", "TooManyAttributes", "BadPicture", "_NoCard", "_NotStored",  # what is counted, or tried in another way
}  # fmt: skip
#: Files whose plain ValueErrors are shown to the person who wrote the file, row or option that they are of.
OF_A_PERSONS_WORDS = (
    "extract/fetch/http_settings.py", "extract/local_files.py", "extract/readers/transcriptions.py", "extract/sample/server.py",
    "extract/sources/own_rates/__init__.py", "flows/checks/correcting.py", "flows/night/start.py", "flows/setup/corrections.py",
    "flows/setup/decisions.py", "flows/setup/settings.py", "flows/setup/terms.py", "warehouse/load/corrected.py",
    "warehouse/outputs/xlsx_files.py",
)  # fmt: skip


def template(node: ast.expr) -> str | None:
    """The text that an expression makes, each value that it fills in by the last name in it; None where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    made, seen = "", Counter[str]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            made += str(part.value)
            continue
        assert isinstance(part, ast.FormattedValue)
        names = [one.id if isinstance(one, ast.Name) else one.attr for one in ast.walk(part.value)
                 if isinstance(one, ast.Name | ast.Attribute)]  # fmt: skip
        name = (names or ["value"])[-1]
        seen[name] += 1
        made += "{" + name + (str(seen[name]) if seen[name] > 1 else "") + "}"
    return made


def raised() -> Iterator[tuple[str, str]]:
    """Place and template of every text that is handed to an error where it is raised."""
    for file in (file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))):
        place = file.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            name = ast.unparse(node.exc.func).rpartition(".")[2]
            if name in UNSEEN or (name == "ValueError" and place not in OF_A_PERSONS_WORDS):
                continue
            for text in map(template, node.exc.args):
                # One word is an address or a name, and a text of gaps alone says nothing itself.
                if text and " " in re.sub(r"\{\w+\}", "", text).strip(" :,;"):
                    yield f"{place}:{node.lineno}", " ".join(text.split("\n"))


def ways_out() -> set[str]:
    """What the errors of pages say that a person can do."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ExtractError)]
    return {kind.default_action for kind in kinds}
