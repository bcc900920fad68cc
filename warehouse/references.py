"""Which tables and columns a SELECT reads, from DuckDB's own parser: no pattern guesses at SQL."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import duckdb


@dataclass(slots=True)
class References:
    """Schema-qualified tables and table macros of a SELECT and all column names in it; `has_star` where it may read every
    column.
    """

    tables: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    has_star: bool = False


def references(con: duckdb.DuckDBPyConnection, select: str) -> References:
    """What `select` reads; names of its own CTEs are not among the tables.

    Columns are not bound to tables here: a name that occurs anywhere counts for every table that has such a column. That
    errs towards rebuilding. Raises ValueError, with the parser's words, where `select` is not one SELECT.
    """
    row = con.execute("SELECT json_serialize_sql(?)", [select]).fetchone()
    assert row is not None
    tree = json.loads(row[0])
    if tree.get("error"):
        raise ValueError(tree.get("error_message", "not a SELECT"))
    if len(tree["statements"]) != 1:
        raise ValueError(f"one SELECT is wanted, and this is {len(tree['statements'])} statements")
    found = References()
    _walk(tree, found)
    return found


def _walk(node: Any, found: References) -> None:
    if isinstance(node, dict):  # what JSON has; asking for a Mapping takes ten times as long
        kind = node.get("type")
        if kind == "BASE_TABLE":
            if node.get("schema_name"):
                found.tables.add(f"{node['schema_name']}.{node['table_name']}")
            found.names.update(node.get("using_columns", ()))
        elif kind == "COLUMN_REF":
            found.names.update(node["column_names"])
        elif node.get("class") == "FUNCTION":
            # Macros of our own: scalar ones with their schema, table macros of `main` without.
            found.tables.add(f"{node.get('schema') or 'main'}.{node['function_name']}")
        elif kind == "STAR":
            found.has_star = True
        elif kind == "JOIN":
            found.names.update(node.get("using_columns", ()))
        for child in node.values():
            _walk(child, found)
    elif isinstance(node, list):
        for child in node:
            _walk(child, found)
