"""A batch: what one source gave in one run, as rows with their provenance."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gpuledger.extract.items import Issue, Item


@dataclass(frozen=True, slots=True)
class Row:
    """One item and the archived bytes that it was read from."""

    item: Item
    snapshot_sha256: str


@dataclass(frozen=True, slots=True)
class Night:
    """One source in one run: what a load must know beside the staged rows. `rows` counts all of them, held ones too, and
    `gone` are the listings whose own pages are there no more. `listings_stand` where it is known that none of its listings
    is new, had ended or says anything else but its price: then they need no look.
    """

    source: str
    seen_at: datetime
    rows: int
    is_complete: bool
    is_whole: bool
    gone: Sequence[str] = ()
    listings_stand: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Accepted rows of one source.

    `is_complete` says that every page was read, so that what is absent has really vanished. `seen_at` is the run's time
    (UTC): it dates what the rows begin and end. `is_whole` says that they are known to be all there is, however few:
    files, and pages that were asked for one by one. `held` are rows that a contract refused: they were there, so what they
    speak of has not ended, but what they say is not taken over. `gone` are the listings whose own pages are there no more.
    """

    source: str
    seen_at: datetime
    rows: Sequence[Row]
    is_complete: bool = True
    held: Sequence[Row] = ()
    is_whole: bool = False
    gone: Sequence[str] = ()

    @property
    def night(self) -> Night:
        """The batch without its rows."""
        rows = len(self.rows) + len(self.held)
        return Night(self.source, self.seen_at, rows, self.is_complete, self.is_whole, self.gone)


@dataclass(slots=True)
class ChangeSet:
    """What a load changed: rows by table, and issues that only the warehouse can see (a missing exchange rate)."""

    changed: dict[str, int] = field(default_factory=dict)
    issues: list[tuple[str, Issue]] = field(default_factory=list)

    def add(self, table: str, rows: int) -> None:
        """Count `rows` changed rows of `table`; a table with none does not appear."""
        if rows:
            self.changed[table] = self.changed.get(table, 0) + rows

    def merge(self, other: ChangeSet) -> None:
        """Take in another load's changes."""
        for table, rows in other.changed.items():
            self.add(table, rows)
        self.issues += other.issues

    @property
    def total(self) -> int:
        """Changed rows over all tables."""
        return sum(self.changed.values())


def split_duplicates(rows: Iterable[Row], key: Callable[[Item], Hashable]) -> tuple[list[Row], list[Row]]:
    """First rows and their repeats, by `key(item)`. The first counts: shops repeat listings as advertisements."""
    seen: set[Hashable] = set()
    first: list[Row] = []
    repeats: list[Row] = []
    for row in rows:
        identity = key(row.item)
        (repeats if identity in seen else first).append(row)
        seen.add(identity)
    return first, repeats
