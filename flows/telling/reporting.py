"""The report of a warehouse as a page: by command, and after each run under Prefect, which links to it."""

from __future__ import annotations

from pathlib import Path

from gpuledger.extract import objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.setup import lang
from gpuledger.warehouse.outputs import report_files
from gpuledger.warehouse.outputs.report_files import ArchivedPage
from gpuledger.warehouse.paths import DataDir


def write(data: DataDir, folder: Path) -> list[Path]:
    """Write the report of the published warehouse to `folder`, in the language in use; returns the files.

    Raises NoWarehouse, and OSError where the folder cannot be written.
    """
    archive = Archive(data.snapshots, objects.of(data.store))

    def archived(sha256: str) -> ArchivedPage | None:
        origin = archive.origin(sha256)
        return ArchivedPage(origin.url, origin.fetched_at) if origin else None

    language = lang.current()
    return list(
        report_files.export(
            data, folder, archived=archived, language=language, translations=lang.translations(language)
        )
    )
