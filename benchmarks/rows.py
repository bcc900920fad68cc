"""What a benchmark tells: a row a measure."""

from __future__ import annotations

import importlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `kept` is None where the benchmark leaves the judgement to the reader."""

    benchmark: str
    what: str
    measured: str
    asked: str
    kept: bool | None

    def cells(self) -> tuple[str, str, str, str, str]:
        """The row as it is printed."""
        kept = "" if self.kept is None else "yes" if self.kept else "NO"
        return self.benchmark, self.what, self.measured, self.asked, kept


def run(name: str) -> list[Row]:
    """Run the benchmark `name` here."""
    found = importlib.import_module(f"benchmarks.bench_{name}").run()
    return [Row(name, what, measured, asked, kept[0] if kept else None) for what, measured, asked, *kept in found]
