"""Write the report of a warehouse as an HTML page: for the command, and after each run under Prefect, which links to it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.source import discover
from gpuledger.flows.night.context import SILENT, Progress, utc_now
from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import texts
from gpuledger.flows.words import lang, say
from gpuledger.message import LANGUAGES
from gpuledger.transform.report.contents import AT_HOME, Opens, contents
from gpuledger.warehouse.outputs.report import files
from gpuledger.warehouse.paths import DataDir


def write(data: DataDir, folder: Path, progress: Progress = SILENT, *, opens: Opens = AT_HOME) -> list[Path]:
    """Write the report of the published warehouse to `folder`; it opens in the language in use. Returns the files.

    `progress` is told how far the work is. Raises NoWarehouse, WarehouseError for a market without a price, and OSError if
    the folder cannot be written.
    """
    archive = Archive.at(data.snapshots, data.store)

    def origin(sha256: str) -> tuple[str, datetime] | None:
        snapshot = archive.origin(sha256)
        return (snapshot.url, snapshot.fetched_at) if snapshot else None

    translations = {code: say.WithSentences(code) for code in LANGUAGES}

    progress.step("ask")
    report_contents = contents(data, origin, texts(settings.load({}).assumptions_given), utc_now(), opens)
    titles = {"titles": {
        "columns": ["source", "title", "is_of_many_shops"],
        "rows": [[one.name, one.title, one.is_of_many_shops] for one in discover()],
    }}  # fmt: skip
    progress.step("write")
    return files.export(report_contents | titles, folder, language=lang.current(), translations=translations)
