"""What all answers share: their type, and the SQL of views, so that files of every version can answer."""

from __future__ import annotations

from typing import Any

from gpuledger.transform.models import FOLDER

#: The column names and the rows of an answer.
Rows = tuple[list[str], list[tuple[Any, ...]]]


def view(name: str) -> str:
    """The SELECT of a view, to use in its place. A file that an earlier program published may not have the view yet."""
    return f"({select_of(name)})"


def select_of(name: str) -> str:
    """The SELECT of a model (`mart.value`), so that a caller can replace a relation that it reads with another."""
    schema, _, table = name.partition(".")
    return (FOLDER / schema / table / "query.sql").read_text(encoding="utf-8")


def columns_of(row: type) -> str:
    """The fields of a row's class as a list of columns."""
    return ", ".join(row.__annotations__)
