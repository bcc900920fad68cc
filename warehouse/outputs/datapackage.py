"""`datapackage.json` describes every exported file and column, for programs that read Frictionless data packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gpuledger.extract import local_files
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.outputs.sheet import Kind, Sheet
from gpuledger.warehouse.outputs.tables import MARK, MARKED
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

NAME = "datapackage.json"
#: Frictionless types, by the beginning of DuckDB's type.
_TYPES = (
    ("DECIMAL", "number"), ("DOUBLE", "number"), ("FLOAT", "number"), ("BIGINT", "integer"), ("INTEGER", "integer"),
    ("HUGEINT", "integer"), ("BOOLEAN", "boolean"), ("TIMESTAMP", "datetime"), ("DATE", "date"), ("VARCHAR", "string"),
)  # fmt: skip
#: The same by the kind of a column of a list.
KINDS: dict[Kind, str] = {
    "money": "number", "percent": "number", "number": "number", "count": "integer", "day": "date",
}  # fmt: skip
_UNIT = re.compile(r"\s*\[([^\]]+)\]$")


def write(data: DataDir, folder: Path, files: Iterable[Path], front: Sheet) -> Path:
    """Write `<folder>/datapackage.json` for `files`, and return its path.

    All files are in the currency of `front`, the purchase list, which is one of them.
    """
    tables = _tables(data, front.currency)
    ((run_id, as_of),) = query(
        data, "SELECT run_id, as_of FROM ops.run WHERE run_id = (SELECT run_id FROM ops.last_run)"
    )[1]
    package = {
        "name": "gpuledger",
        "title": "Prices, benchmarks and value of GPUs",
        "version": f"{as_of:%Y-%m-%dT%H:%M:%SZ}",
        "run": run_id,
        "currency": front.currency.to_json(),
        "sources": [
            {"title": source} for (source,) in query(data, "SELECT source FROM mart.source_status ORDER BY 1")[1]
        ],
        "resources": [_resource(path, tables, front) for path in files],
    }
    return local_files.write_text(folder / NAME, json.dumps(package, ensure_ascii=False, indent=1) + "\n")


def _resource(path: Path, tables: dict[str, tuple[str, list[dict[str, str]]]], front: Sheet) -> dict[str, Any]:
    is_csv = path.suffix == ".csv"
    if path.stem == front.name:
        # A CSV for people has headings for people.
        fields = [
            {
                "name": column.heading if is_csv else column.name,
                "type": KINDS.get(column.kind, "string"),
                "description": column.meaning,
            }
            for column in front.columns
        ]
        description = f"{front.title} · {front.subtitle}"
    else:
        description, fields = tables[path.stem]
    about: dict[str, Any] = {
        "name": path.stem.replace("_", "-"), "path": path.name, "description": description,
        "format": path.suffix[1:], "schema": {"fields": fields, "missingValues": [""]},
    }  # fmt: skip
    if is_csv:
        about |= {"encoding": "utf-8", "mediatype": "text/csv"}
    return about


def _tables(data: DataDir, currency: Currency) -> dict[str, tuple[str, list[dict[str, str]]]]:
    """Description and fields of every mart and of the other exported tables, by name without schema."""
    comments = query(
        data,
        """SELECT table_name, comment FROM duckdb_tables() WHERE database_name = 'gpuledger'
           UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE database_name = 'gpuledger'""",
    )[1]
    _, rows = query(
        data,
        """SELECT table_name, column_name, data_type, coalesce(comment, '') FROM duckdb_columns()
           WHERE database_name = 'gpuledger' AND schema_name IN ('mart', 'core')
           ORDER BY schema_name, table_name, column_index""",
    )
    fields: dict[str, list[dict[str, str]]] = {}
    for table, column, kind, comment in rows:
        comment = currency.meaning(comment)
        field = {"name": currency.name(column), "type": type_of(kind), "description": _UNIT.sub("", comment)}
        if unit := _UNIT.search(comment):
            field["unit"] = unit[1]
        fields.setdefault(table, []).append(field)
    for table in MARKED:
        fields[table.partition(".")[2]].append({"name": "price_mark", "type": "string", "description": MARK})
    described = {name: text or "" for name, text in comments}
    return {name: (described.get(name, ""), table_fields) for name, table_fields in fields.items()}


def type_of(kind: str) -> str:
    """The type of a column in a data package, by its type in DuckDB."""
    return next((name for beginning, name in _TYPES if kind.startswith(beginning)), "any")
