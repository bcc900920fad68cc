"""What of a warehouse is published, and how it is put into another one: a table a kind of fact, as tables.toml has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Whether cards that a user added are among the ids.
MACRO = """CREATE OR REPLACE TEMP MACRO has_own_card(id, ids) AS EXISTS (
    FROM core.gpu g WHERE g.added_on IS NOT NULL AND contains(concat_ws(' ', id, ids), g.gpu_id))"""


@dataclass(frozen=True, slots=True)
class Table:
    """One kind of published fact: the name of its files, the SELECT that gives its rows in a warehouse, the key of a row,
    and the column that dates a row, by whose month the first publication puts it into files. `now` says which rows stand in
    the files of each month anew, as answers of its days need them. `into` are the statements that put the rows of the
    relation `published` into a warehouse.
    """

    name: str
    rows: str
    key: tuple[str, ...]
    dated: str | None
    now: str
    into: tuple[str, ...]


def _table(entry: Mapping[str, Any]) -> Table:
    rows, *into = (_filled(sql) for sql in (entry["rows"], *entry["into"]))
    return Table(
        entry["name"],
        rows,
        tuple(entry["key"].split()),
        entry.get("dated"),
        _filled(entry.get("now", "false")),
        tuple(into),
    )


def _filled(sql: str) -> str:
    """A statement with the parts that it names. A part may name one before it."""
    for name, part in reversed(_FILE["part"].items()):
        sql = sql.replace(f"{{{name}}}", part)
    return sql


_FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TABLES = tuple(map(_table, _FILE["table"]))
#: What a folder loses before it takes in what was published anew.
CLEARED: tuple[str, ...] = tuple(_FILE["cleared"])
