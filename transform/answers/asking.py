"""What all answers share: what an answer is, and shared views that files of every version can be asked for."""

from __future__ import annotations

from typing import Any

from gpuledger.transform.models import FOLDER

#: Column names and rows.
Rows = tuple[list[str], list[tuple[Any, ...]]]


def view(name: str) -> str:
    """The SELECT of a view, to be read in its place: a file that an earlier program published may not have the view yet."""
    return f"({select_of(name)})"


def select_of(name: str) -> str:
    """The SELECT of a model (`mart.value`), to be asked with another relation in the place of one that it reads."""
    schema, _, table = name.partition(".")
    return (FOLDER / schema / table / "query.sql").read_text(encoding="utf-8")


def columns_of(row: type) -> str:
    """The fields of a row's class as a list of columns."""
    return ", ".join(row.__annotations__)
