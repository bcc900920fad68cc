"""Which tables and columns a SELECT reads, by DuckDB's own parser and not by patterns that guess at SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.warehouse import table_content
from gpuledger.warehouse.schema import hash_text

#: A remembered answer depends on the text of the SELECT, and on these: the parser and this file.
_READER = duckdb.__version__ + Path(__file__).read_text(encoding="utf-8")
_ROW = "models:references"
#: Tables, names and whether there is a star, as JSON.
_AsJson = list[Any]


@dataclass(slots=True)
class References:
    """The schema-qualified tables and table macros of a SELECT, and all column names in it. `has_star` is set if it may read
    every column.
    """

    tables: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    has_star: bool = False


def references(con: duckdb.DuckDBPyConnection, select: str) -> References:
    """What `select` reads. The names of its own CTEs are not among the tables.

    Columns are not bound to tables here: a name that occurs anywhere counts for every table that has such a column, so too
    much is rebuilt rather than too little. Raises ValueError, with the parser's message, if `select` is not one SELECT.
    """
    row = con.execute("SELECT json_serialize_sql(?)", [select]).fetchone()
    assert row is not None
    tree = json.loads(row[0])
    if tree.get("error"):
        raise ValueError(tree.get("error_message", "not a SELECT"))
    if len(tree["statements"]) != 1:
        raise ValueError(f"one SELECT is wanted, and this is {len(tree['statements'])} statements")
    mentioned = References()
    _walk(tree, mentioned)
    return mentioned


class Remembered:
    """What each SELECT reads, remembered in the warehouse by the hash of its text.

    Otherwise parsing every model again would take most of a night without changes. Nothing is remembered in a read-only
    database, or in one without our tables.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        # Checked first, as an error for a missing table would abort an open transaction. Listing tables takes ten times as
        # long as listing schemas.
        has_table = con.execute(
            """SELECT readonly FROM duckdb_schemas() JOIN duckdb_databases() d USING (database_oid)
               WHERE d.database_name = current_database() AND schema_name = 'ops'"""
        ).fetchone()
        self._can_learn = has_table == (False,)
        remembered = table_content.content_of(con, _ROW) if has_table else None
        self._known: dict[str, _AsJson] = json.loads(remembered) if remembered else {}
        self._used: dict[str, _AsJson] = {}

    def of(self, select: str) -> References:
        """See `references`."""
        key = hash_text(_READER + select)
        if key not in self._known:
            mentioned = references(self._con, select)
            self._used[key] = [sorted(mentioned.tables), sorted(mentioned.names), mentioned.has_star]
        else:
            self._used[key] = self._known[key]
        tables, names, has_star = self._used[key]
        return References(set(tables), set(names), has_star)

    def keep(self) -> None:
        """Store the answers that were used since the warehouse was opened, and no others."""
        if self._can_learn and self._used != self._known:
            table_content.put(self._con, {_ROW: json.dumps(self._used)})


def _walk(node: Any, mentioned: References) -> None:
    if isinstance(node, dict):  # JSON gives a dict; a check for Mapping takes ten times as long
        kind = node.get("type")
        if kind == "BASE_TABLE":
            if node.get("schema_name"):
                mentioned.tables.add(f"{node['schema_name']}.{node['table_name']}")
            mentioned.names.update(node.get("using_columns", ()))
        elif kind == "COLUMN_REF":
            mentioned.names.update(node["column_names"])
        elif node.get("class") == "FUNCTION":
            # Our own macros: scalar macros have their schema here, table macros of `main` have none.
            mentioned.tables.add(f"{node.get('schema') or 'main'}.{node['function_name']}")
        elif kind == "STAR":
            mentioned.has_star = True
        elif kind == "JOIN":
            mentioned.names.update(node.get("using_columns", ()))
        for child in node.values():
            _walk(child, mentioned)
    elif isinstance(node, list):
        for child in node:
            _walk(child, mentioned)
