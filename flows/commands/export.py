"""`gpuledger export`: the tables as files, and a list of what to buy."""

from __future__ import annotations

from pathlib import Path

import click

from gpuledger.flows.doors.asking.options import currency_option, data_dir_option, market_option, read_from
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["csv", "xlsx", "parquet"]), default="csv", show_default=True,
    help="How the files are written.",
)  # fmt: skip
@market_option
@currency_option
@data_dir_option
def command(folder: Path, form: str, data_dir: str | None) -> None:
    """Write every mart to FOLDER, one file a table, and `procurement`: what to buy, one row a pick and quote.

    As xlsx it is one workbook without daily prices and changes, whose first sheet is that list: the picks of the questions
    that were kept (`buy --save`), of the usual models if none was. --market and --lang are of that list. What others may
    read is written by `gpuledger publish`.

    With --currency all dollars are in that currency, in columns of its name (price_eur): at the newest rate, and what is
    of a past day at that day's. Prices as a shop prints them keep their own.

    The CSV files that every run writes beside the warehouse hold the newest 90 days of daily prices and 30 of changes.
    """
    from gpuledger.flows.doors.showing import procurement
    from gpuledger.flows.doors.showing.money import money
    from gpuledger.flows.night.context import utc_now
    from gpuledger.flows.telling import progress
    from gpuledger.warehouse.outputs import csv_files, sheet, tables
    from gpuledger.warehouse.read import together

    data = read_from(data_dir)
    currency = money(data)
    with progress.live_lines() as lines, together(data, folder):
        lines.step("ask")
        front = procurement.sheet(data, currency, utc_now())
        lines.step("write")
        if form == "xlsx":
            from gpuledger.warehouse.outputs import xlsx_files  # it imports openpyxl, which takes a third of a second

            written = xlsx_files.export(data, folder, [front], gettext=gettext)
        elif form == "csv":
            written = [*csv_files.export(data, folder, currency=currency), sheet.write_csv(front, folder)]
        else:
            written = [*tables.write_parquet(data, folder, currency), sheet.write_parquet(front, folder)]
    for path in written:
        click.echo(path)
