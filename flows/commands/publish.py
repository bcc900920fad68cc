"""`gpuledger publish`: what may be published of the warehouse, as files that a stranger can check."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("place", required=False)
@data_dir_option
def command(place: str | None, data_dir: str | None) -> int:
    """Publish the newest night to PLACE, a folder or a store (s3://bucket/prefix), as files that a stranger can check.

    Only sources whose terms allow it are published (`gpuledger sources terms`); the manifest names what is withheld. Quotes,
    contracts, settings and notes never are. Without PLACE from the setting publish, which also does it after each night.
    The setting publish_key signs.
    """
    settings = settings_module.load({"data_dir": data_dir, "publish": place})
    if not settings.publish:
        raise click.UsageError(gettext("name the place, as in `gpuledger publish public`, or in the setting publish"))
    from gpuledger.flows.telling.publishing import publish

    manifest, is_new = publish(settings, settings.data(), settings.publish)
    day, count = manifest.day, len(manifest.files)
    click.echo(
        gettext("{day}: published, {count} files").format(day=day, count=count)
        if is_new
        else gettext("{day} is published already").format(day=day)
    )
    for source in manifest.withheld:
        click.echo(gettext("withheld: {source}: {reason}").format(source=source.source, reason=gettext(source.reason)))
    return 0
