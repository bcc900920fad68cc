"""Gives every loaded title its GPU, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from gpuledger.transform.identity.resolution import Evidence
from gpuledger.warehouse.load.stage import Value, stage

if TYPE_CHECKING:
    from gpuledger.transform.identity.resolver import Resolver

_RESULT = ("gpu_id", "match_status", "match_rule", "match_candidates")
#: Columns for the kind and the contents of a shop's product.
_PRODUCT = ("gpu_count", "product_kind", "contained_gpu_id", "contents")


@dataclass(frozen=True, slots=True)
class _Titles:
    """A table with titles: its name, the column of the title, and the columns with further evidence."""

    table: str
    title: str
    specs: str = "NULL"
    mpn: str = "NULL"
    brand: str = "NULL"
    memory: str = "NULL"
    has_products: bool = False


_TABLES = (
    _Titles("core.listing", "title", specs="specs", mpn="mpn", brand="brand", has_products=True),
    _Titles("core.benchmark_score", "gpu_name", specs="specs"),
    _Titles("core.index_price", "gpu_name"),
    _Titles("core.cloud_offer_history", "gpu_name", specs="instance", memory="memory_gb"),
)


#: Every table that holds titles.
TABLES = tuple(titles.table for titles in _TABLES)


def assign(
    con: duckdb.DuckDBPyConnection,
    resolver: Callable[[], Resolver],
    version: str,
    tables: Collection[str] = TABLES,
) -> list[str]:
    """Resolve the titles of `tables` that `version` of the catalogue and the rules has not yet resolved.

    Returns the tables in which an answer changed. A title is resolved once for all rows that have it.
    """
    selected = (titles for titles in _TABLES if titles.table in tables)
    return [titles.table for titles in selected if _assign_table(con, titles, resolver, version)]


def _assign_table(
    con: duckdb.DuckDBPyConnection, titles: _Titles, resolver: Callable[[], Resolver], version: str
) -> bool:
    rows = con.execute(
        f"""SELECT rowid, {titles.title}, source, {titles.specs}, {titles.mpn}, {titles.brand}, ({titles.memory})::VARCHAR
            FROM {titles.table} WHERE match_version IS DISTINCT FROM ?""",
        [version],
    ).fetchall()
    if not rows:
        return False
    known: dict[tuple[str | None, ...], Sequence[Value]] = {}
    for _, *evidence in rows:
        if tuple(evidence) not in known:
            known[tuple(evidence)] = _resolve(resolver(), _Titled(*evidence))
    columns = [*_RESULT, *(_PRODUCT if titles.has_products else ())]
    stage(con, "answer", ["rows", *columns], [[i, *known[tuple(evidence)][: len(columns)]] for i, *evidence in rows])
    con.execute(
        f"""UPDATE {titles.table} t SET {", ".join(f"{c} = a.{c}" for c in columns)}, match_version = ?
            FROM answer a WHERE t.rowid = a.rows""",
        [version],
    )
    return True


class _Titled(NamedTuple):
    """A title with the other fields of its rows."""

    title: str
    source: str
    specs: str | None
    mpn: str | None
    brand: str | None
    memory: str | None


def _resolve(resolver: Resolver, row: _Titled) -> Sequence[Value]:
    """Values of _RESULT and _PRODUCT."""
    evidence = Evidence(memory=row.memory, specs=row.specs, mpn=row.mpn, brand=row.brand)
    resolution = resolver.resolve(row.title, evidence, source=row.source)
    candidates = " ".join(resolution.candidates) if resolution.status == "ambiguous" else None
    contents = ", ".join(f"{count} {part}" for part, count in resolution.parts) or None
    product = (
        resolution.gpu_count,
        resolution.product_kind,
        resolution.contained[0] if resolution.contained else None,
        contents,
    )
    return (resolution.gpu_id, resolution.status, resolution.rule, candidates, *product)


def is_card(con: duckdb.DuckDBPyConnection, gpu_id: str) -> bool:
    """Whether the catalogue has a card of that id."""
    return bool(con.execute("SELECT 1 FROM core.gpu WHERE gpu_id = ?", [gpu_id]).fetchall())
