"""`gpuledger pull`: a verified copy of a warehouse that other machines publish."""

from __future__ import annotations

import click

from gpuledger.flows.asking.options import data_dir_option
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("store", required=False)
@data_dir_option
def command(store: str | None, data_dir: str | None) -> int:
    """Copy the newest published warehouse from a store, s3://bucket/prefix, into the data directory, and check its sum.

    Without STORE from the setting warehouse, or store. Readers of the directory keep the version that they have open; what
    is damaged or half there is never published. With the setting warehouse every reading command does this by itself.
    """
    settings = settings_module.load({"data_dir": data_dir, "warehouse": store})
    address = settings.warehouse or settings.store
    if not address:
        raise click.UsageError(
            gettext("name the store, as in `gpuledger pull s3://bucket/prefix`, or in the setting warehouse")
        )
    from gpuledger.extract.archive.objects import PATIENCE_S
    from gpuledger.flows.history import copies
    from gpuledger.warehouse import integrity

    data = settings.data()
    version = copies.pull(data, address, settings.keep_versions, PATIENCE_S)
    published = data.published.resolve()
    if version is None:
        click.echo(gettext("{name} is here already").format(name=integrity.name_of(published)))
    else:
        size = f"{published.stat().st_size / 1e6:,.1f}"
        click.echo(gettext("{name}: {size} MB, the sum is right").format(name=integrity.name_of(published), size=size))
    return 0
