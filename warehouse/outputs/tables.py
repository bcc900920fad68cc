"""Which tables are exported, in which order of rows, and as Parquet files with the warehouse's types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from gpuledger.warehouse.schema import quote

#: Exported tables other than marts: price changes, and titles that mean no card.
BESIDE_THE_MARTS = ("core.price_change", "core.unmatched_title")

#: Views that are too large for a file: they answer for every model and card, which makes twelve million rows.
TOO_LARGE = ("mart.model_fit",)

#: Tables that grow every night: the column that dates their rows, and how many days of them are in the files of each run.
#: Writing years of rows would cost every night the time that a single question should cost.
HISTORIES = {"mart.price_daily": ("day", 90), "core.price_change": ("changed_at", 30)}


_OF_THE_CARD = "(SELECT p.source FROM mart.gpu_price p WHERE p.gpu_id = t.gpu_id)"
#: Tables with prices of shops and clouds: the source of the price in a row `t`, by which core.price_mark says whether it is
#: stale or invented. The mark may change although no price did.
MARKED = {
    **dict.fromkeys(("mart.gpu_price", "mart.market_price", "mart.node_offer", "mart.cloud_price"), "t.source"),
    **dict.fromkeys(("mart.comparison", "mart.rent_vs_buy"), _OF_THE_CARD),
    "mart.value": f"CASE WHEN t.price_basis = 'street' THEN {_OF_THE_CARD} END",
}
#: What the mark means.
MARK = "What to know first about the price: stale if its source could not be read last time, invented if it is of the sample"


def names(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Schema-qualified names of the tables and views that are exported."""
    marts = con.execute(
        """SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE schema_name = 'mart'
           UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE schema_name = 'mart' ORDER BY 1"""
    ).fetchall()
    return [*(name for (name,) in marts if name not in TOO_LARGE), *BESIDE_THE_MARTS]


def rows_of(con: duckdb.DuckDBPyConnection, table: str, currency: Currency = DOLLARS, *, recent: bool = False) -> str:
    """The statement that gives the rows of an exported table in a fixed order, so that equal tables give equal files.

    With `recent` it gives only the newest days of tables that grow every night. Dollars are in `currency`.
    """
    newest = ""
    if recent and table in HISTORIES:
        dated, days = HISTORIES[table]
        newest = f"FROM {table} WHERE {dated} > (SELECT max({dated}) FROM {table}) - INTERVAL {days} DAY"
    rows = currency.select(con, table, newest)
    if table in MARKED:
        rows = f"SELECT t.*, core.price_mark({MARKED[table]}) AS price_mark FROM ({rows}) t"
    return f"{rows} ORDER BY ALL"


def tables(data: DataDir, currency: Currency) -> Iterator[tuple[str, list[str], list[tuple[Any, ...]]]]:
    """Name without schema, columns and rows of every exported table that does not grow every night, its dollars in
    `currency`.
    """
    with reader(data) as con:
        for table in names(con):
            if table in HISTORIES:
                continue
            result = con.execute(rows_of(con, table, currency))
            columns = [column[0] for column in result.description or []]
            yield table.partition(".")[2], columns, result.fetchall()


def write_parquet(data: DataDir, folder: Path, currency: Currency = DOLLARS) -> list[Path]:
    """Write `<folder>/<table>.parquet` for every table, its dollars in `currency`, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with reader(data, folder) as con:
        for table in names(con):
            path = folder / f"{table.partition('.')[2]}.parquet"
            part = path.with_suffix(".part")
            con.execute(
                f"COPY ({rows_of(con, table, currency)}) TO {quote(str(part))} (FORMAT parquet, COMPRESSION zstd)"
            )
            part.replace(path)
            written.append(path)
    return written
