"""`gpuledger iceberg`: the published history and marts as Apache Iceberg tables."""

from __future__ import annotations

import click

from gpuledger.flows.asking.options import data_dir_option
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("location", required=False)
@data_dir_option
def command(location: str | None, data_dir: str | None) -> int:
    """Write what changed since the last time as a snapshot of Iceberg tables at LOCATION, s3://bucket/prefix.

    Without LOCATION where the setting iceberg has them; with that setting every night does it by itself. Only partitions
    (a month, or what is open) whose rows changed are written. tables.json there names the state of each table that is of
    one night; the catalogue is state/iceberg.db, or the setting iceberg_catalog.
    """
    from gpuledger.flows.night import exporting, sharing
    from gpuledger.warehouse.outputs import iceberg_tables

    settings = settings_module.load({"data_dir": data_dir, "iceberg": location})
    if not settings.iceberg:
        raise click.UsageError(
            gettext("say where the tables are to be, as in `gpuledger iceberg s3://bucket/prefix`, or set iceberg")
        )
    data = settings.data()
    with sharing.writing(data):
        written = iceberg_tables.publish(data, exporting.target(settings, data))
    message = gettext("{done} of {count} partitions written, {rows} rows")
    for table in written:
        figures = message.format(done=table.changed, count=table.partitions, rows=f"{table.rows:,}")
        click.echo(f"{table.table:<30} {figures}")
    return 0
