"""Write the generated parts of the documents: `python docs/generate.py`. With `--check` say whether they are out of date.

The answer that the README shows is what the program says in an empty folder, so the README cannot promise what it does
not do.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUESTION = ("buy", "--model", "qwen3-32b", "--budget", "3000", "--limit", "1")
WIDTH = 84
#: The READMEs, by the language in which they show the answer.
READMES = {"en": ROOT / "README.md", "ko": ROOT / "README.ko.md"}
ARCHITECTURE = ROOT / "docs" / "architecture.md"
#: The rooms, the upper ones first.
ROOMS = ("flows", "transform", "expectations", "warehouse", "extract")
#: The command on the day of the newest price that the program brings: an answer of a README must not age by itself.
COMMAND = [
    sys.executable, "-c",
    """import datetime as time
from gpuledger.flows import cli
from gpuledger.flows.commands import buy
from gpuledger.transform.identity.catalogue import rows_of
day = time.datetime.fromisoformat(max(row["day"] for row in rows_of("street_prices.csv")) + "T00:00+00:00")
buy.datetime = type("Then", (time.datetime,), {"now": staticmethod(lambda zone: day)})
cli.main()""",
]  # fmt: skip
#: Environment variables that make rich write into a pipe as on a terminal: as wide as in the README, without colours.
ON_A_SCREEN = {"TTY_COMPATIBLE": "1", "TERM": "dumb", "COLUMNS": str(WIDTH), "LINES": "50"}


def first_answer(language: str = "en") -> str:
    """What the program answers in an empty folder, as a block of text: the sentences and the table below them."""
    arguments = [*(() if language == "en" else ("--lang", language)), *QUESTION]
    with tempfile.TemporaryDirectory() as folder:
        completed = subprocess.run(
            [*COMMAND, *arguments],
            cwd=folder, env={**os.environ, **ON_A_SCREEN}, check=True, capture_output=True, text=True,
        )  # fmt: skip
    lines = [line.rstrip() for line in completed.stdout.splitlines()]
    table = max(number for number, line in enumerate(lines) if re.match(r"\d+  ", line)) + 1
    wrapped = (textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line] for line in lines[:table])
    answer = "\n".join(part for parts in wrapped for part in parts)
    return f"```text\n$ gpuledger {' '.join(arguments)}\n{answer}\n```"


def picture() -> str:
    """The rooms with their folders, and an arrow from each room to every room that it imports, as the code says."""
    names = {room: "<br>".join(filter(None, [f"<b>{room}</b>", " · ".join(_folders(room))])) for room in ROOMS}
    lines = [f'  {room}["{names[room]}"]' for room in ROOMS]
    lines += [f"  {room} --> {other}" for room in ROOMS for other in ROOMS if other in _imported_rooms(room)]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def _imported_rooms(room: str) -> set[str]:
    return {module[0] for _, module in _imports(room)} - {room}


def _folders(room: str) -> list[str]:
    """The folders of a room, each before the folders that it imports. If two import each other, all by their names."""
    inside = sorted(path for path in (ROOT / room).glob("*") if any(path.glob("*.py")))
    # The doors are listed one by one: what is shown lies under the night, and what is asked above it.
    inside = [one for path in inside for one in (path.glob("[!_]*/") if path.name == "doors" else [path])]
    needs = {str(path.relative_to(ROOT / room)): set[str]() for path in sorted(inside)}
    for path, module in _imports(room):
        folder, other = _folder(path.relative_to(ROOT / room).parts), _folder(module[1:])
        if module[0] == room and folder in needs and other in needs and other != folder:
            needs[folder].add(other)
    try:
        return [*TopologicalSorter({name: sorted(of) for name, of in needs.items()}).static_order()][::-1]
    except CycleError:
        return [*needs]


def _folder(parts: Sequence[str]) -> str:
    return "/".join(parts[: 2 if parts[:1] == ("doors",) else 1])


@cache
def _imports(room: str) -> list[tuple[Path, tuple[str, ...]]]:
    """Each file of the room with every module of gpuledger that it imports, as the parts of the name after `gpuledger`."""
    return [
        (path, tuple(f"{node.module}.{name.name}".split(".")[1:]))
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpuledger.")
        for name in node.names
    ]


def fill(text: str, name: str, content: str) -> str:
    """`text` with the block between the marks of `name` replaced. Raises ValueError if the marks are missing."""
    marked = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- /generated -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"there is no block 'generated: {name}'")
    return marked.sub(lambda block: f"{block[1]}{content}\n{block[2]}", text)


def main() -> int:
    """Write the blocks, or only compare them with `--check`. With `rooms` only the picture, which needs no run.

    Returns 1 if `--check` found a block that is out of date.
    """
    blocks = [(ARCHITECTURE, "rooms", picture())]
    if "rooms" not in sys.argv:
        blocks += [(readme, "answer", first_answer(language)) for language, readme in READMES.items()]
    stale = False
    for path, name, content in blocks:
        before = path.read_text(encoding="utf-8")
        after = fill(before, name, content)
        stale = stale or before != after
        if "--check" not in sys.argv:
            path.write_text(after, encoding="utf-8")
    return int(stale and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
