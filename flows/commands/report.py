"""`gpuledger report`: the tables as a page for procurement."""

from __future__ import annotations

from pathlib import Path

import click

from flows.commands._options import data_dir_option, data_of


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@data_dir_option
def command(folder: Path, data_dir: str | None) -> None:
    """Write the report to FOLDER: one HTML file that needs no network, to be read, printed or mailed.

    Every number leads to its source page and shows the hash and the age of the archived page that it was read from.
    """
    from extract.snapshots import Archive
    from flows import lang
    from warehouse.outputs import report_files
    from warehouse.outputs.report_files import ArchivedPage

    data = data_of(data_dir)
    archive = Archive(data.snapshots)

    def archived(sha256: str) -> ArchivedPage | None:
        found = archive.origin(sha256)
        return ArchivedPage(found.url, found.fetched_at) if found else None

    language = lang.current()
    for path in report_files.export(
        data, folder, archived=archived, language=language, translations=lang.translations(language)
    ):
        click.echo(path)
