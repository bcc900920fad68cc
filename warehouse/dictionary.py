"""The data dictionary: what every loaded table and every column means. Each process reads it once, from dictionary.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("dictionary.toml")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's DuckDB type, meaning and unit (None if it has no unit).

    `default` is, as SQL, its value in rows that were loaded before the program had the column; None for NULL.
    """

    name: str
    type: str
    description: str
    unit: str | None
    default: str | None

    @property
    def comment(self) -> str:
        """The text that the DuckDB file carries on the column."""
        return f"{self.description} [{self.unit}]" if self.unit else self.description


@dataclass(frozen=True, slots=True)
class Table:
    """A loaded table: schema-qualified name, meaning with the grain first, key and columns in order.

    `is_history` tables only grow and are too large to read every night. So a table that is built from one must be built by
    increments.
    """

    name: str
    description: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    is_history: bool


@dataclass(frozen=True, slots=True)
class Dictionary:
    """All columns and loaded tables by name."""

    columns: Mapping[str, Column]
    tables: Mapping[str, Table]


@cache
def dictionary() -> Dictionary:
    """The dictionary. Raises KeyError if a table names a column that is not described."""
    document = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    columns = {
        name: Column(name, entry["type"], entry["description"], entry.get("unit"), entry.get("default"))
        for name, entry in document["column"].items()
    }
    tables = {
        name: Table(
            name, entry["description"], tuple(entry["key"]), tuple(columns[c] for c in entry["columns"]),
            entry.get("is_history", False),
        )
        for name, entry in document["table"].items()
    }  # fmt: skip
    return Dictionary(columns, tables)
