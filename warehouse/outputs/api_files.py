"""Files for other programs and pages: JSON under `api/v1`, described as OpenAPI, and a feed of price changes.

They are plain files: any web server can serve them, and none is needed. Equal warehouses give equal bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gpuledger.extract import local_files
from gpuledger.warehouse.outputs.answer import cell, plain
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.outputs.datapackage import KINDS, type_of
from gpuledger.warehouse.outputs.sheet import Sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query, reader

#: A promise to readers: a column stays, with its meaning, within a version. A change that breaks this makes `v2`.
VERSION = "v1"
FEED = "changes.atom"
#: Number of the newest changes that the feed and `changes.json` hold.
MOST_CHANGES = 500

#: The table of each file, the order of its rows, and the query for them where that is not for the whole table.
_QUERIES = {
    "workloads": (
        "core.workload", "workload_id", "SELECT * FROM core.workload SEMI JOIN mart.ranking USING (workload_id)",
    ),
    "value": ("mart.value", "workload_id, price_basis, value_rank, gpu_id", ""),
    "ranking": ("mart.ranking", "workload_id, rank, gpu_id", ""),
    "prices": ("mart.gpu_price", "gpu_id", ""),
    "trends": ("mart.price_trend", "gpu_id", ""),
    "cloud": ("mart.cloud_price", "ALL", ""),
    "changes": (
        "core.price_change",
        "changed_at DESC, listing_id, change",
        f"""SELECT c.*, l.title, l.url FROM core.price_change c LEFT JOIN core.listing l ON l.listing_id = c.listing_id
            ORDER BY c.changed_at DESC, c.listing_id, c.change LIMIT {MOST_CHANGES}""",
    ),
    "sources": ("mart.source_status", "source", "SELECT * EXCLUDE (age_hours) FROM mart.source_status"),
}  # fmt: skip
#: The types of a data package that JSON has too; all others are texts in it.
_IN_JSON = ("number", "integer", "boolean")
_CURRENCY = {
    "type": "object", "required": ["code", "usd", "rate_day"],
    "description": "What amounts are in where no other currency stands beside them, and what one unit of it is worth",
    "properties": {
        "code": {"type": "string"}, "usd": {"type": "number"}, "rate_day": {"type": ["string", "null"], "format": "date"},
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _List:
    """One file: its rows, and the schema of one of them."""

    description: str
    schema: dict[str, dict[str, Any]]
    rows: list[dict[str, Any]]


def export(data: DataDir, folder: Path, cards: Sheet) -> list[Path]:
    """Write `<folder>/api/v1/*.json` and `<folder>/changes.atom`, and return their paths.

    `cards` is the purchase list. All amounts are in its currency, except amounts as printed, which keep the currency that
    stands beside them.
    """
    currency = cards.currency
    ((run_id, as_of),) = query(data, "SELECT run_id, as_of FROM ops.last_run")[1]
    stands_for = {"version": VERSION, "run": run_id, "as_of": cell(as_of), "currency": currency.to_json()}
    place = folder / "api" / VERSION
    lists = {"cards": _cards(cards)} | {name: _list(data, name, currency) for name in _QUERIES}
    written = [
        _write(place / f"{name}.json", {**stands_for, "rows": file_list.rows}) for name, file_list in lists.items()
    ]
    written.append(_write(place / "index.json", {**stands_for, "lists": {name: f"{name}.json" for name in lists}}))
    written.append(_write(place / "openapi.json", _openapi(lists)))
    return [*written, local_files.write_text(folder / FEED, "".join(_feed(lists["changes"].rows, as_of)))]


def _list(data: DataDir, name: str, currency: Currency) -> _List:
    table, order, rows_sql = _QUERIES[name]
    rows_sql = rows_sql or f"SELECT * FROM {table}"
    with reader(data) as con:
        names = [column for column, *_ in con.execute(f"DESCRIBE {rows_sql}").fetchall()]
        result = con.execute(f"{currency.select(con, table, rows_sql)} ORDER BY {order}")
        columns, rows = [column[0] for column in result.description], result.fetchall()
    schema, _, of_schema = table.partition(".")
    described = {
        column: (kind, comment or "")
        for column, kind, comment in query(
            data,
            """SELECT column_name, data_type, comment FROM duckdb_columns()
               WHERE database_name = 'gpuledger' AND (schema_name, table_name) IN (($schema, $table), ('core', 'listing'))
               ORDER BY table_name = $table""",
            {"schema": schema, "table": of_schema},
        )[1]
    }
    return _List(
        table,
        {
            currency.name(column): {
                "type": [_in_json(type_of(described[column][0])), "null"],
                "description": currency.meaning(described[column][1]),
            }
            for column in names
        },
        [dict(zip(columns, map(plain, row), strict=True)) for row in rows],
    )


def _cards(cards: Sheet) -> _List:
    schema = {
        column.name: {"type": [_in_json(KINDS.get(column.kind, "string")), "null"], "description": column.meaning}
        for column in cards.columns
    }
    rows = [{name: plain(value) for name, value in row.items()} for row in cards.dicts()]
    return _List(f"{cards.title} · {cards.subtitle}", schema, rows)


def _in_json(type: str) -> str:
    return type if type in _IN_JSON else "string"


def _openapi(lists: dict[str, _List]) -> dict[str, Any]:
    def path(name: str, file_list: _List) -> dict[str, Any]:
        row = {
            "type": "object",
            "properties": file_list.schema,
            "required": list(file_list.schema),
            "additionalProperties": False,
        }
        whole = {
            "type": "object", "required": ["version", "run", "as_of", "currency", "rows"],
            "properties": {
                "version": {"const": VERSION}, "run": {"type": "string"}, "as_of": {"type": "string", "format": "date-time"},
                "currency": _CURRENCY, "rows": {"type": "array", "items": row},
            },
        }  # fmt: skip
        content = {"application/json": {"schema": whole}}
        return {"get": {"operationId": name, "summary": file_list.description,
                        "responses": {"200": {"description": file_list.description, "content": content}}}}  # fmt: skip

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gpuledger", "version": VERSION,
            "description": "Prices, benchmarks and value of GPUs as of one night: files, written anew when it is published.",
        },
        "servers": [{"url": "."}],
        "paths": {f"/{name}.json": path(name, file_list) for name, file_list in lists.items()},
    }  # fmt: skip


def _feed(changes: list[dict[str, Any]], as_of: datetime) -> Iterator[str]:
    """Atom (RFC 4287): an entry for each change, the newest first."""
    updated = as_of.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    yield '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
    yield f"<title>gpuledger</title><id>urn:gpuledger:changes</id><updated>{updated}</updated>"
    yield "<author><name>gpuledger</name></author>\n"
    for change in changes:
        key = re.sub(r"[^\w.:-]", "-", f"{change['listing_id']}:{change['changed_at']}:{change['change']}")
        title = f"{change['title']}: {_moved(change)}"
        link = change.get("url")
        yield f"<entry><id>urn:gpuledger:change:{escape(key)}</id><updated>{escape(str(change['changed_at']))}</updated>"
        yield f"<title>{escape(_printable(title))}</title>"
        if link and re.match(r"https?://", str(link)):
            yield f"<link href={quoteattr(_printable(str(link)))}/>"
        yield f"<category term={quoteattr(str(change['change']))}/></entry>\n"
    yield "</feed>\n"


def _moved(change: dict[str, Any]) -> str:
    old, new, currency = change.get("old_price"), change.get("new_price"), change.get("currency") or ""
    if old is not None and new is not None:
        return f"{old:,.2f} → {new:,.2f} {currency}".rstrip()
    return str(change["change"]) + (f" {new:,.2f} {currency}" if new is not None else "")


def _printable(text: str) -> str:
    """The text without characters that XML does not allow."""
    return "".join(letter for letter in text if letter in "\t\n" or letter.isprintable())


def _write(path: Path, content: dict[str, Any]) -> Path:
    return local_files.write_text(path, json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")
