"""The files that every run writes beside the warehouse: the tables, and the list to buy by."""

from __future__ import annotations

from pathlib import Path

from gpuledger.flows.setup import procurement
from gpuledger.flows.setup.money import DOLLARS
from gpuledger.transform.build.run import tracked_contents
from gpuledger.warehouse.outputs import csv_files, sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader, together


def after_run(data: DataDir) -> list[Path]:
    """Write them to the folder of exports, all of one version; of the tables that grow by the night, the newest days. A file
    whose table did not change since it was written is left as it is.

    Raises OSError where the folder cannot be written, and what `warehouse.read.reader` raises.
    """
    with together(data):
        with reader(data) as con:
            contents = tracked_contents(con)
        written = csv_files.export_recent(data, contents)
        return [*written, sheet.write_csv(procurement.sheet(data, DOLLARS), data.exports)]
