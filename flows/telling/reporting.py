"""The report of a warehouse as a page: by command, and after each run under Prefect, which links to it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from gpuledger.extract import objects
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.night.progress import SILENT, Progress
from gpuledger.flows.setup import lang, sentences
from gpuledger.flows.setup.languages import LANGUAGES
from gpuledger.transform.report.contents import contents
from gpuledger.warehouse.outputs.report import files
from gpuledger.warehouse.paths import DataDir


def write(data: DataDir, folder: Path, progress: Progress = SILENT) -> list[Path]:
    """Write the report of the published warehouse to `folder`, opening in the language in use, and tell `progress` how far
    it is; returns the files.

    Raises NoWarehouse, and OSError where the folder cannot be written.
    """
    archive = Archive(data.snapshots, objects.of(data.store))

    def origin(sha256: str) -> tuple[str, datetime] | None:
        found = archive.origin(sha256)
        return (found.url, found.fetched_at) if found else None

    translations = {code: lang.WithDictionary(code) for code in LANGUAGES}

    def models(done: int, total: int) -> None:
        if not done:
            progress.step("models", total)
        progress.at(done)
        if done == total:
            progress.step("ask")

    progress.step("ask")
    found = contents(data, origin, models)
    progress.step("write")
    return files.export(
        found, folder, language=lang.current(), translations=translations, sentences=sentences.TEMPLATES
    )
