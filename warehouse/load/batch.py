"""A batch: the items of one source in one run, as rows with their provenance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from gpuledger.items import Issue, Item

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Row:
    """One item and the archived bytes that it was read from."""

    item: Item
    snapshot_sha256: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Accepted rows of one source.

    `seen_at` is the run's time (UTC), at which the spans of these rows begin and others end. `is_complete` means that every
    page was read, so absent listings have really ended. `is_whole` means that these are known to be all rows, however few:
    the source reads files, or pages that were requested one by one. `held` are rows that a contract refused: their listings
    have not ended, but their values are not loaded. `gone` are the listings whose own pages no longer exist. If a file of
    many nights is loaded night by night, each `is_one_of_many`.
    """

    source: str
    seen_at: datetime
    rows: Sequence[Row]
    is_complete: bool = True
    held: Sequence[Row] = ()
    is_whole: bool = False
    gone: Sequence[str] = ()
    is_one_of_many: bool = False

    @property
    def count(self) -> int:
        """How many rows there are, held ones too."""
        return len(self.rows) + len(self.held)


@dataclass(slots=True)
class ChangeSet:
    """What a load changed: rows by table and in all, and what only the warehouse can find (a missing exchange rate)."""

    changed: dict[str, int] = field(default_factory=dict)
    issues: list[tuple[str, Issue]] = field(default_factory=list)
    total: int = 0

    def add(self, table: str, rows: int) -> None:
        """Count `rows` changed rows of `table`. A table without changed rows does not appear."""
        if rows:
            self.changed[table] = self.changed.get(table, 0) + rows
            self.total += rows

    def merge(self, other: ChangeSet) -> None:
        """Add another load's changes to these."""
        for table, rows in other.changed.items():
            self.add(table, rows)
        self.issues += other.issues


def split_duplicates(rows: Iterable[_Item], key: Callable[[_Item], Hashable]) -> tuple[list[_Item], list[_Item]]:
    """The first row of each `key(row)`, and the repeats. The first counts, as shops repeat listings as advertisements."""
    seen: set[Hashable] = set()
    first: list[_Item] = []
    repeats: list[_Item] = []
    for row in rows:
        identity = key(row)
        (repeats if identity in seen else first).append(row)
        seen.add(identity)
    return first, repeats
