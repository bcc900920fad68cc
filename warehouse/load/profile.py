"""The profile of a batch: which fields its rows have, how long their texts are, and which selectors matched.

A profile has a figure for each of these traits. Nobody has to state what a figure should be: it is compared with those of
the same source on earlier nights (`transform.gate.drift`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import attrgetter
from statistics import median
from typing import Any, get_args

import duckdb

from gpuledger.extract.items import Issue, Item, Looked, Offer
from gpuledger.warehouse.load.stage import append

#: What a parser gives for a value that it does not know.
_UNKNOWN = (None, "", "unknown")
#: Issues that say nothing about how well the rows were read: they are about pages, or were found after the reading.
_NOT_OF_ROWS = frozenset({"LayoutChanged", "products_left", "too_many_pages", "not_given_back", "no_price"})
#: Texts whose usual length shows that a parser still reads a title, and not a button.
_TEXTS = ("title", "specs", "gpu_name")

#: Beginnings, whole names or endings of the names of traits. The trait of a field has a name like `offer.price`.
SELECTOR, ISSUE, NEW_KEYS, IN_STOCK, LENGTH = "selector ", "issue ", "new keys", "in stock", " length"


@dataclass(frozen=True, slots=True)
class Figure:
    """One trait of one source on one night.

    `figure` is a share of the `counted` rows or looks; for a length it is the median number of characters. `url` and
    `sha256` are those of the page that shows the trait best, which is the one with most rows.
    """

    trait: str
    counted: int
    figure: float
    url: str | None = None
    sha256: str | None = None


def profile_of(
    rows: Sequence[tuple[Item, str]],
    looked: Sequence[tuple[Looked, str]],
    issues: Sequence[tuple[Issue, str | None]],
    pages: Mapping[str, str],
    known: Collection[str],
) -> list[Figure]:
    """The profile of a batch. `pages` are the addresses of its pages by hash, `known` the keys of the source's earlier
    offers.
    """
    figures: list[Figure] = []
    by_kind: dict[type[Item], list[tuple[Item, str]]] = defaultdict(list)
    for item, sha256 in rows:
        by_kind[type(item)].append((item, sha256))
    for kind, same in by_kind.items():
        fullest = Counter(sha256 for _, sha256 in same).most_common(1)[0][0]
        place = pages.get(fullest), fullest
        figures += (Figure(name, len(same), figure, *place) for name, figure in _of_kind(kind, [i for i, _ in same]))
        if known and (keys := [item.key for item, _ in same if isinstance(item, Offer)]):
            figures.append(Figure(NEW_KEYS, len(keys), sum(key not in known for key in keys) / len(keys), *place))
    figures += _of_selectors(looked, pages)
    for code, places in _of_issues(issues).items():
        worst = next((sha256 for sha256, _ in Counter(filter(None, places)).most_common(1)), None)
        share = len(places) / (len(rows) + len(places))
        figures.append(Figure(ISSUE + code, len(rows) + len(places), share, pages.get(worst or ""), worst))
    return figures


def _of_kind(kind: type[Item], items: Sequence[Item]) -> Iterator[tuple[str, float]]:
    names = _open_fields(kind.KIND)
    # Column by column: a night of thirty thousand rows has half a million fields.
    columns: Iterable[tuple[Any, ...]] = zip(*map(attrgetter(*names), items), strict=True) if len(names) > 1 else ()
    for name, column in zip(names, columns, strict=False):
        is_text = isinstance(next((value for value in column if value is not None), None), str)
        absent = column.count(None) + (column.count("unknown") + column.count("") if is_text else 0)
        yield f"{kind.KIND}.{name}", 1 - absent / len(items)
    for name in _TEXTS:
        if lengths := [len(text) for item in items if (text := getattr(item, name, None))]:
            yield f"{kind.KIND}.{name}{LENGTH}", float(median(lengths))
    stock = Counter(item.availability for item in items if isinstance(item, Offer) and item.availability != "unknown")
    if stock:
        yield IN_STOCK, stock["in_stock"] / stock.total()


@cache
def _open_fields(kind: str) -> tuple[str, ...]:
    """The fields that a row of a kind may lack, except those that come with a price."""
    of_kind = next(item_type for item_type in get_args(Item) if kind == item_type.KIND)
    fields = (field for field in dataclasses.fields(of_kind) if field.default in _UNKNOWN)
    return tuple(field.name for field in fields if field.name not in ("currency", "price_kind"))


def _of_selectors(looked: Sequence[tuple[Looked, str]], pages: Mapping[str, str]) -> Iterator[Figure]:
    looks, matches = Counter[str](), Counter[str]()
    places: dict[str, tuple[int, str]] = {}
    for look, sha256 in looked:
        looks[look.selector] += look.asked
        matches[look.selector] += look.found
        places[look.selector] = max(
            places.get(look.selector, (0, "")), (look.asked, sha256), key=lambda place: place[0]
        )
    for css, times in looks.items():
        sha256 = places[css][1]
        yield Figure(SELECTOR + css, times, matches[css] / times, pages.get(sha256), sha256)


def _of_issues(issues: Sequence[tuple[Issue, str | None]]) -> dict[str, list[str | None]]:
    places: dict[str, list[str | None]] = defaultdict(list)
    for issue, sha256 in issues:
        if issue.code not in _NOT_OF_ROWS:
            places[issue.code].append(sha256)
    return places


def known_keys(con: duckdb.DuckDBPyConnection, source: str, before: datetime) -> set[str]:
    """The keys of all offers that a source had before a night."""
    sql = "SELECT listing_key FROM core.listing WHERE source = ? AND first_seen_at < ?"
    return {key for (key,) in con.execute(sql, [source, before]).fetchall()}


def keep(
    con: duckdb.DuckDBPyConnection,
    source: str,
    seen_at: datetime,
    figures: Sequence[Figure],
    drifting: Collection[str],
) -> None:
    """Record a night's profile, and which of its traits drift. A repeated run replaces its own profile.

    Of each trait, the newest NIGHTS nights without drift stay, and all nights since the oldest of those.
    """
    con.execute("DELETE FROM ops.source_profile WHERE source = ? AND seen_at = ?", [source, seen_at])
    append(con, "ops.source_profile", [
        (source, seen_at, f.trait, f.counted, round(f.figure, 6), f.trait in drifting, f.url, f.sha256) for f in figures
    ])  # fmt: skip
    steady_nights: dict[str, list[datetime]] = defaultdict(list)
    for night in nights(con, source, seen_at):
        if not night.is_drift:
            steady_nights[night.figure.trait].append(night.seen_at)
    traits_by_oldest: dict[datetime, list[str]] = defaultdict(list)
    for trait, days in steady_nights.items():
        if len(days) > NIGHTS:
            traits_by_oldest[days[NIGHTS - 1]].append(trait)
    for since, traits in traits_by_oldest.items():
        con.execute(
            "DELETE FROM ops.source_profile WHERE source = ? AND seen_at < ? AND trait IN (SELECT unnest(?::VARCHAR[]))",
            [source, since, traits],
        )


#: Number of earlier nights with which a night is compared.
NIGHTS = 30


@dataclass(frozen=True, slots=True)
class Night:
    """A recorded figure: its night, and whether it drifted then."""

    seen_at: datetime
    is_drift: bool
    figure: Figure


def nights(con: duckdb.DuckDBPyConnection, source: str, until: datetime) -> list[Night]:
    """The recorded figures of a source up to `until`, newest first."""
    rows = con.execute(
        """SELECT seen_at, is_drift, trait, trait_rows, trait_figure, url, snapshot_sha256 FROM ops.source_profile
           WHERE source = ? AND seen_at <= ? ORDER BY seen_at DESC, trait""",
        [source, until],
    ).fetchall()
    return [Night(seen_at, is_drift, Figure(*figure)) for seen_at, is_drift, *figure in rows]
