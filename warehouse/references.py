"""Which tables and columns a SELECT reads, by DuckDB's own parser and not by patterns that guess at SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import duckdb


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
