"""Brings a model by its name from the model hub, once: what the hub says is kept with the models that a person added."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.say import say
from gpuledger.message import Message, reason_of
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.added_models import OwnModel, save
from gpuledger.transform.sizing.errors import SizingError, UnknownModel
from gpuledger.transform.sizing.named import is_path, shape_of
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.extract.hub.named import Wanted
    from gpuledger.flows.settings.settings import Settings


def bring(name: str, data: DataDir, model_id: str | None = None) -> bool:
    """Keep the model `name` in `data` (as `model_id`, if given), if it names a model of a hub and nobody here knows it.
    Returns whether it was kept now.

    The hub is never asked for a path, a plain name, or a model that the catalogue or the data directory has. Raises
    UsageError if the hub is of no help, and says why and what does as well.
    """
    if is_path(name):
        return False
    try:
        shape_of(name, data.root)
    except UnknownModel as error:
        from gpuledger.extract.hub.named import wanted

        settings = settings_module.load({})
        named = wanted(name, settings.hub, settings.ollama)
        if named is None:
            return False
        why = _fetched(named, data, model_id or catalogue.slug(catalogue.without_address(name)), settings)
        if why is not None:
            raise click.UsageError(say(Message("{unknown} ({why})", unknown=reason_of(error), why=why))) from None
        return True
    except SizingError:
        pass  # the question itself says what is wrong with the model that is there
    return False


def _fetched(named: Wanted, data: DataDir, model_id: str, settings: Settings) -> Message | str | None:
    """None if the model was fetched and kept, else why not."""
    if settings.offline:
        return Message("the model hub was not asked, since the setting `offline` is true")
    from gpuledger.flows.settings import parts

    if parts.missing():
        return Message("to ask the model hub, install the nightly part: {install}", install=parts.INSTALL)
    from gpuledger.extract.archive.snapshots import Archive
    from gpuledger.extract.fetch.http import Client, HttpSettings
    from gpuledger.extract.hub.hub import MAX_BODY_BYTES, Hub, HubError
    from gpuledger.extract.hub.named import own_machines
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.sizing.files.source import described

    address, ollama = settings.hub.rstrip("/"), settings.ollama.rstrip("/")
    http = HttpSettings(
        contact=settings.contact or None, delay_s=settings.delay_s, deadline_s=settings.fetch_deadline_s,
        max_body_bytes=MAX_BODY_BYTES, connect_to=own_machines(address, ollama),
    )  # fmt: skip
    with Client(http) as client, TemporaryDirectory() as folder:
        hub = Hub(
            client=client, archive=Archive(data.snapshots), now=utc_now, address=address, ollama=ollama,
            key=settings.hub_token,
        )  # fmt: skip
        try:
            hub.bring(named, Path(folder))
            config = described(Path(folder)) | {"_name_or_path": named.repository}
            save(data.root, OwnModel(model_id, utc_now().date(), config))
        except (HubError, SizingError) as error:
            return reason_of(error)
    return None
