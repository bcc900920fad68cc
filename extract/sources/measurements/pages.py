"""Parser of the CSV files that `gpuledger measure` writes (`extract/readers/measured/plain.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from gpuledger.errors import LayoutChanged
from gpuledger.extract.readers.measured import plain
from gpuledger.extract.readers.measured.figure import NotReadable, StoredFigure
from gpuledger.extract.source import Page
from gpuledger.items import Parsed, Score

#: What a figure and a score call by the same name.
_SAME = {field.name for field in fields(Score)} & {field.name for field in fields(StoredFigure)}


def parse(page: Page) -> Iterator[Parsed]:
    """Yield one Score for each row. Raises LayoutChanged if somebody edited the file badly."""
    try:
        figures = plain.read_stored(page.content)
    except (NotReadable, UnicodeDecodeError) as error:
        raise LayoutChanged(page.url, str(error), "correct the file, or take the measurement in again") from error
    for figure in figures:
        same: dict[str, Any] = {name: getattr(figure, name) for name in _SAME}
        table = ", ".join(part for part in (figure.origin, f"sha256 {figure.origin_sha256[:16]}", figure.where) if part)
        yield Score(**same, table=table, column=figure.workload_id, published_on=figure.measured_on)
