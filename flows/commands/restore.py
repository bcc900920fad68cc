"""`gpuledger restore`: publish the newest undamaged version again."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, data_of
from gpuledger.flows.words.lang import gettext


@click.command()
@data_dir_option
def command(data_dir: str | None) -> int:
    """Publish the newest version that is what was written, where the published file or the writer's base is damaged.

    Reads whole files and compares their sums; changes nothing where all is whole. What later runs had loaded is in the
    archive: `gpuledger replay` takes it in again.
    """
    from gpuledger.flows.night.sharing import writing
    from gpuledger.warehouse import publish
    from gpuledger.warehouse.errors import NoWarehouse

    data = data_of(data_dir)
    if not data.root.exists():
        raise NoWarehouse(data.root)
    with writing(data):
        steps = publish.restore(data)
    for step in steps:
        click.echo(step)
    if not steps:
        click.echo(gettext("the published file and the writer's base are whole: nothing to restore"))
    return 0
