"""What follows a publish: CSV files of the version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gpuledger import local_files
from gpuledger.flows.doors.showing import procurement
from gpuledger.flows.doors.showing.money import DOLLARS
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.flows.night.summary import Summary
from gpuledger.transform.report.questions import Answered
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.outputs import csv_files, sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import together


def after_run(data: DataDir, answered: Sequence[Answered] = ()) -> list[Path]:
    """Write the tables and the list of what to buy, all of one version, to the folder of exports; returns their paths.

    `answered` are the kept questions, as the run asked them: that takes as long as all else, so nobody asks twice.

    Tables that grow every night are written with their newest days only.

    Raises OSError if the folder cannot be written, and what `warehouse.read.reader` raises.
    """
    with together(data):
        written = csv_files.export(data, data.exports, recent=True)
        return [*written, sheet.write_csv(procurement.sheet(data, DOLLARS, utc_now(), answered), data.exports)]


def write(context: Context, summary: Summary) -> Summary:
    """Write the CSV files of the published version.

    What cannot be written is only a note in the summary, as the warehouse is published already.
    """
    context.progress.step("export")
    try:
        after_run(context.data, summary.answered)
    except OSError as error:
        folder = error.filename or context.data.exports
        return replace(summary, reason=f"the CSV files could not be written: {folder}: {local_files.why(error)}")
    except WarehouseError as error:
        # An analyst who opens the new version for writing at this moment locks every reader out of it.
        return replace(summary, reason=f"the CSV files could not be written: {error}")
    return summary
