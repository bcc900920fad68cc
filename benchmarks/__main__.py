"""`python -m benchmarks [name …]`: run the benchmarks and print one table.

A benchmark is a file `bench_<name>.py` with `run()`, which returns rows: what was measured, the measure, the bound that is
asked for, and, where it can be said, whether the bound is kept. The status is 1 where one is not, or where a benchmark
failed; the others run all the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import rows
from benchmarks.rows import Row

HEADINGS = ("benchmark", "what", "measured", "asked", "kept")


def names() -> list[str]:
    """The benchmarks beside this file."""
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def rows_of(name: str) -> list[Row]:
    """The rows of one benchmark; one row that says why where it failed.

    It has a process of its own: after another, the collector would look through all that that one left behind.
    """
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            return alone.submit(rows.run, name).result()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said, and the other benchmarks run
        return [Row(name, "the benchmark failed", f"{type(error).__name__}: {error}".splitlines()[0], "", False)]


def show(found: Sequence[Row]) -> None:
    """A table for people in a terminal, Markdown elsewhere."""
    console = Console()
    if console.is_terminal:
        table = Table(*HEADINGS)
        for row in found:
            table.add_row(*row.cells(), style="red" if row.kept is False else None)
        console.print(table)
        return
    for cells in (HEADINGS, ("---",) * len(HEADINGS), *(row.cells() for row in found)):
        print("|", " | ".join(cell.replace("|", "\\|") for cell in cells), "|")


def main() -> int:
    """Run what was asked for, all without a name."""
    known = names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, beside the bounds asked for.")
    parser.add_argument("name", nargs="*", help=f"one of {', '.join(known)}; all without one")
    wanted = parser.parse_args().name
    if unknown := sorted(set(wanted) - set(known)):
        parser.error(f"no benchmark is called {', '.join(unknown)}; known are {', '.join(known)}")
    found: list[Row] = []
    for name in wanted or known:
        started = time.perf_counter()
        print(f"{name} …", end="", file=sys.stderr, flush=True)
        found += rows_of(name)
        print(f" {time.perf_counter() - started:.0f} s", file=sys.stderr)
    show(found)
    return int(any(row.kept is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
