"""A verified copy of a warehouse in a store: `gpuledger pull` makes it, and so do commands if `warehouse` names a store."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import StoreError
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir

#: Longest wait of a question for a store [s]. After that the copy on this machine answers.
_PATIENCE_S = 5.0
_KEEP_VERSIONS = 2


def pull(
    data: DataDir, address: str, keep_versions: int = _KEEP_VERSIONS, patience_s: float = _PATIENCE_S
) -> Path | None:
    """Bring the copy in `data` up to date. Returns the version if it is new here, None if it was here already.

    Raises StoreError, Diverged for a directory with a warehouse of its own, and NoWarehouse for a store without one.
    """
    from gpuledger.warehouse import private
    from gpuledger.warehouse.shared import bring, head

    store = objects.store_at(address, patience_s)
    assert store is not None
    now = head.read_head(store)
    if now.published is None:
        raise NoWarehouse(address)
    if bring.is_current(data, store, now):
        return None
    from filelock import FileLock

    private.make_folder(data.state)
    with FileLock(data.state / "pull.lock"):
        return bring.pull(data, store, now, keep_versions)


def local_copy(settings: Settings) -> DataDir:
    """The directory from which reading commands answer if `warehouse` names a store: a copy, as new as possible.

    Raises what `pull` raises. If the store does not answer and there is a copy, it uses the copy and prints a note on
    standard error instead.
    """
    name = hashlib.sha256(settings.warehouse.encode()).hexdigest()[:16]
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    data = DataDir(caches / "gpuledger" / name, settings.warehouse)
    try:
        pull(data, settings.warehouse)
    except StoreError as error:
        if not data.published.exists():
            raise
        message = gettext("answered from the copy {version}, as the store gave no newer one: {error}")
        print(message.format(version=data.published.resolve().parent.name, error=say(error)), file=sys.stderr)  # noqa: T201
    return data
