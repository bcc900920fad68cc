"""Write a day of a publication to its place: files first, then the manifest, then the pointer, and last what repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from gpuledger import __version__
from gpuledger.extract.archive.objects import Objects
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.outputs.answer import plain
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import manifest as manifests
from gpuledger.warehouse.published import rows
from gpuledger.warehouse.published.manifest import POINTER, Day, File, Manifest, SourceState, Withheld
from gpuledger.warehouse.published.tables import TABLES
from gpuledger.warehouse.read import reader
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
    "ledger_edition": "Which publication of that day it was; of one key and day the highest counts",
    "ledger_entry": "new, updated (seen again, or ended), corrected, carried (into a month) or withdrawn (the key is left)",
    "ledger_changed": "What changed, with the old and the new value",
    "ledger_why": "Why it changed",
}  # fmt: skip
#: One guessable address a thing: the rows as they stand now.
_NOW = {
    "street-prices.json": """SELECT p.gpu_id, g.gpu, p.* EXCLUDE (gpu_id, gpu), core.price_mark(p.source) AS price_mark
        FROM mart.market_price p JOIN core.gpu g USING (gpu_id) ORDER BY ALL""",
    "token-prices.json": """SELECT * EXCLUDE (valid_to, now) FROM mart.token_price, (SELECT max(as_of) AS now FROM ops.run)
        WHERE coalesce(valid_from <= now, true) AND coalesce(valid_to > now, true) ORDER BY ALL""",
}


def manifest_of(
    as_of: datetime,
    edition: int,
    before: tuple[Day, Manifest] | None,
    written: Sequence[File],
    sources: tuple[list[SourceState], list[Withheld]],
) -> Manifest:
    """The manifest of an edition of the day of `as_of`: the files of the one before that still count, and those that were
    written. `sources` are those that are published, and those that are withheld.
    """
    states, withheld = sources
    licences = {source.source: source.terms.licence for source in states}
    closed = {(file.table, file.period) for file in written}
    files = [file for file in (before[1].files if before else ()) if (file.table, file.period[:7]) not in closed]
    for file in written:
        named = {licences.get(source, "as its source") for source in file.sources}
        files.append(msgspec.structs.replace(file, licence="; ".join(sorted(named)) or _OWN_LICENCE))
    return Manifest(
        format=manifests.FORMAT, day=as_of.astimezone(UTC).date(), edition=edition, as_of=as_of, program=__version__,
        cadence_hours=manifests.CADENCE_HOURS, previous=before[0] if before else None,
        files=sorted(files, key=lambda file: file.name), sources=states, withheld=withheld,
    )  # fmt: skip


def put(
    place: Objects,
    folder: Path,
    manifest: Manifest,
    before: Manifest | None,
    sign: Callable[[bytes], tuple[bytes, str]] | None,
) -> Day:
    """Put an edition into its place, where that of `before` is. Until the pointer, which comes last, readers see that one.

    `sign` gives the signature of a manifest, and the public key. Raises StoreError, and what `sign` raises.
    """
    there = before.by_name() if before else {}
    for file in manifest.files:
        if file.name not in there:
            place.write(file.name, (folder / file.name).read_bytes())
    content, key = manifests.dumps(manifest), None
    name = manifests.name_of(manifest)
    if sign is not None:
        signature, key = sign(content)
        place.write(f"{name}.minisig", signature)
    place.write(name, content)
    newest = Day(manifest.day, name, manifests.digest(content))
    place.write(POINTER, manifests.dumps(manifests.Pointer(format=manifests.FORMAT, newest=newest, key=key)))
    # Readers that began with the edition before still find its files. What else lies there is not ours.
    named = {file.name for day in (manifest, before) if day is not None for file in day.files}
    lie = [key for key in place.listed("") if key.endswith(".parquet") and key not in named]
    place.delete([name for table in TABLES for name in rows.files_of(table, lie)])
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
