"""Writes the files of every run beside the warehouse: the tables, and the list of what to buy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuledger.flows.showing import procurement
from gpuledger.flows.showing.money import DOLLARS
from gpuledger.transform.build.run import tracked_contents
from gpuledger.warehouse.outputs import csv_files, sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader, together

if TYPE_CHECKING:
    import duckdb


def after_run(data: DataDir, over: duckdb.DuckDBPyConnection | None = None) -> list[Path]:
    """Write the files of one version to the folder of exports; returns their paths.

    Tables that grow every night are written with their newest days only. A file whose table did not change since it was
    written stays as it is. `over` is a connection that is free for it; see `warehouse.read.together`.

    Raises OSError if the folder cannot be written, and what `warehouse.read.reader` raises.
    """
    with together(data, over=over):
        with reader(data) as con:
            contents = tracked_contents(con)
        written = csv_files.export_recent(data, contents)
        return [*written, sheet.write_csv(procurement.sheet(data, DOLLARS), data.exports)]
