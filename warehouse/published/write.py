"""Write a day of a publication to its place: files first, then the manifest, then the pointer, and last what repeats it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from gpuledger import __version__
from gpuledger.extract.archive.objects import Objects
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.outputs.answer import plain
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import manifest as manifests
from gpuledger.warehouse.published.manifest import POINTER, Day, File, Gap, Manifest, SourceState, Terms, Withheld
from gpuledger.warehouse.published.rows import Written
from gpuledger.warehouse.read import query, reader
from gpuledger.warehouse.schema import columns, quote

#: The licence of what no source said: that a night ran, and when.
_OWN_LICENCE = "CC0-1.0"
#: Frictionless types, by the beginning of DuckDB's type; all others are text.
_TYPES = (
    ("DECIMAL", "number"), ("DOUBLE", "number"), ("BIGINT", "integer"), ("INTEGER", "integer"), ("BOOLEAN", "boolean"),
    ("TIMESTAMP", "datetime"), ("DATE", "date"),
)  # fmt: skip
_ABOUT_MEANS = {
    "ledger_day": "Day on which the row was published; of the rows of one key the newest counts",
    "ledger_entry": "new, updated (seen again, or ended), corrected, or withdrawn (only the key is left)",
    "ledger_changed": "What changed, with the old and the new value",
    "ledger_why": "Why it changed",
}  # fmt: skip
#: One guessable address a thing: the rows as they stand now.
_NOW = {
    "street-prices.json": """SELECT p.gpu_id, g.gpu, p.* EXCLUDE (gpu_id, gpu), core.price_mark(p.source) AS price_mark
        FROM mart.market_price p JOIN core.gpu g USING (gpu_id) ORDER BY ALL""",
    "token-prices.json": "SELECT * EXCLUDE (valid_to) FROM core.token_price WHERE valid_to IS NULL ORDER BY ALL",
}


def sources_of(data: DataDir) -> list[str]:
    """The sources that were read into a warehouse."""
    return [source for (source,) in query(data, "SELECT source FROM ops.source_state ORDER BY 1")[1]]


def source_states(
    con: duckdb.DuckDBPyConnection, as_of: datetime, terms: Mapping[str, tuple[str, Terms]]
) -> list[SourceState]:
    """The state of every published source: its age at `as_of`, and the times in which it was silent. `terms` has the title
    and the terms of each.
    """
    found = []
    for source, at, hours in con.execute(
        """SELECT source, last_success_at, freshness_hours FROM ops.source_state SEMI JOIN publishable USING (source)
           ORDER BY 1"""
    ).fetchall():
        gaps = con.execute(
            """SELECT * FROM (SELECT lag(seen_at) OVER (ORDER BY seen_at) AS since, seen_at FROM core.source_night
               WHERE source = ?) WHERE date_diff('hour', since, seen_at) > ? ORDER BY 1""",
            [source, hours],
        ).fetchall()
        age = None if at is None else round((as_of - at).total_seconds() / 3600, 1)
        title, allowed = terms[source]
        found.append(SourceState(
            source=source, title=title, terms=allowed, last_success_at=at, age_hours=age, cadence_hours=hours,
            is_silent=age is None or age > hours, gaps=[Gap(*gap) for gap in gaps],
        ))  # fmt: skip
    return found


def manifest_of(
    folder: Path,
    as_of: datetime,
    before: tuple[Day, Manifest] | None,
    written: Sequence[Written],
    sources: tuple[list[SourceState], list[Withheld]],
) -> Manifest:
    """The manifest of the day of `as_of`: the files of the day before that still count, and those that were written in
    `folder`. `sources` are those that are published, and those that are withheld.
    """
    states, withheld = sources
    licences = {source.source: source.terms.licence for source in states}
    new = {one.name for one in written}
    closed = {(one.table, one.period) for one in written}
    kept = [
        file for file in (before[1].files if before else ())
        if file.name not in new and (file.table, file.period[:7]) not in closed
    ]  # fmt: skip
    files = [*kept, *(_file(folder, one, licences) for one in written)]
    return Manifest(
        format=manifests.FORMAT, day=as_of.astimezone(UTC).date(), as_of=as_of, program=__version__,
        cadence_hours=manifests.CADENCE_HOURS, previous=before[0] if before else None,
        files=sorted(files, key=lambda file: file.name), sources=states, withheld=withheld,
    )  # fmt: skip


def _file(folder: Path, one: Written, licences: Mapping[str, str]) -> File:
    content = (folder / one.name).read_bytes()
    licence = "; ".join(sorted({licences.get(source, "as its source") for source in one.sources})) or _OWN_LICENCE
    return File(
        name=one.name, table=one.table, period=one.period, sha256=manifests.digest(content), bytes=len(content),
        rows=one.rows, sources=list(one.sources), licence=licence,
    )  # fmt: skip


def put(place: Objects, folder: Path, manifest: Manifest, before: Manifest | None, secret_key: str) -> Day:
    """Put a day into its place, whose day `before` is there. Until the pointer, which comes last, readers see that one.

    Raises StoreError.
    """
    there = before.by_name() if before else {}
    for file in manifest.files:
        if file.name not in there:
            place.write(file.name, (folder / file.name).read_bytes())
    content, key = manifests.dumps(manifest), None
    name = manifests.name_of(manifest.day)
    if secret_key:
        signature, key = manifests.sign(content, secret_key)
        place.write(f"{name}.minisig", signature)
    place.write(name, content)
    newest = Day(manifest.day, name, manifests.digest(content))
    place.write(POINTER, manifests.dumps(manifests.Pointer(format=manifests.FORMAT, newest=newest, key=key)))
    # Readers that began with the day before still find its files.
    named = {file.name for day in (manifest, before) if day is not None for file in day.files}
    place.delete([one.key for one in place.listed("") if one.key.endswith(".parquet") and one.key not in named])
    return newest


def put_repeated(place: Objects, data: DataDir, manifest: Manifest) -> None:
    """Write what says again, under one address a thing, what the files say: prices as they stand now, from the warehouse in
    `data` that was built from the files alone, and a description of every file for programs that read data packages.
    """
    resources = [_resource(file.name, file.bytes, file.sha256, file.licence, file.table) for file in manifest.files]
    for name, content in _now(data, manifest):
        place.write(name, content)
        resources.append(_resource(name, len(content), manifests.digest(content), _licences(manifest), None))
    with reader(data, data.parquet) as con:
        for table, name in {file.table: file.name for file in manifest.files}.items():
            place.write(f"{table}.schema.json", _json({"fields": list(_fields(con, data.parquet / name))}))
    package = {
        "name": "gpuledger", "title": "Prices and benchmarks of GPUs, by day", "version": str(manifest.day),
        "licenses": [{"name": licence} for licence in sorted({source.terms.licence for source in manifest.sources})],
        "sources": [{"title": source.title, "path": source.terms.page} for source in manifest.sources],
        "resources": resources,
    }  # fmt: skip
    place.write("datapackage.json", _json(package))


def _licences(manifest: Manifest) -> str:
    return "; ".join(sorted({source.terms.licence for source in manifest.sources})) or _OWN_LICENCE


def _resource(name: str, size: int, sha256: str, licence: str, table: str | None) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": name.replace("_", "-").rpartition(".")[0], "path": name, "format": name.rpartition(".")[2], "bytes": size,
        "hash": f"sha256:{sha256}", "licenses": [{"name": licence}],
    }  # fmt: skip
    return about if table is None else {**about, "schema": f"{table}.schema.json"}


def _now(data: DataDir, manifest: Manifest) -> Iterator[tuple[str, bytes]]:
    with reader(data) as con:
        for name, sql in _NOW.items():
            answer = con.execute(sql)
            names = [column[0] for column in answer.description]
            rows = [dict(zip(names, map(plain, row), strict=True)) for row in answer.fetchall()]
            yield name, _json({"as_of": manifest.as_of.isoformat(), "licence": _licences(manifest), "rows": rows})


def _fields(con: duckdb.DuckDBPyConnection, file: Path) -> Iterator[dict[str, str]]:
    """The columns of a file, with their meaning."""
    known = dictionary().columns
    for name, kind in columns(con, f"(FROM read_parquet({quote(str(file))}))"):
        meaning = _ABOUT_MEANS.get(name) or known[name].comment
        of_json = next((to for of, to in _TYPES if kind.startswith(of)), "string")
        yield {"name": name, "type": of_json, "description": meaning}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str).encode() + b"\n"
