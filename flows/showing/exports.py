"""Writes the files of every run beside the warehouse: the tables, and the list of what to buy."""

from __future__ import annotations

from pathlib import Path

from gpuledger.flows.showing import procurement
from gpuledger.flows.showing.money import DOLLARS
from gpuledger.transform.build.run import tracked_contents
from gpuledger.warehouse.outputs import csv_files, sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader, together


def after_run(data: DataDir) -> list[Path]:
    """Write the files of one version to the folder of exports; returns their paths.

    Tables that grow every night are written with their newest days only. A file whose table did not change since it was
    written stays as it is.

    Raises OSError if the folder cannot be written, and what `warehouse.read.reader` raises.
    """
    with together(data):
        with reader(data) as con:
            contents = tracked_contents(con)
        written = csv_files.export_recent(data, contents)
        return [*written, sheet.write_csv(procurement.sheet(data, DOLLARS), data.exports)]
