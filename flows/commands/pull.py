"""`gpuledger pull`: a publication, checked, as the warehouse of this machine."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, keep_sample_option
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("address", required=False)
@click.option(
    "--key", "keys", multiple=True, metavar="KEY", help="Public key of the publisher; a second one may be given."
)
@keep_sample_option
@data_dir_option
def command(address: str | None, keys: tuple[str, ...], keep_sample: bool, data_dir: str | None) -> int:
    """Bring what somebody publishes at ADDRESS (https://…) into the data directory, checked, beside what it reads itself.

    Without ADDRESS from the setting warehouse, with which every reading command does this by itself, once a day. The key may
    stand in the setting warehouse_keys. What was changed, is missing or is older than before is named, and then nothing is
    taken in.
    """
    settings = settings_module.load({"data_dir": data_dir, "warehouse": address, "warehouse_keys": keys or None})
    if not settings.warehouse:
        raise click.UsageError(
            gettext("name the address, as in `gpuledger pull https://host/path`, or in the setting warehouse")
        )
    from gpuledger.flows.history import pulling

    for sentence in pulling.pull(settings, settings.data(), keep_sample=keep_sample):
        click.echo(sentence)
    return 0
