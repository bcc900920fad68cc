"""Send what this machine published to a store: its pages, its version, and the files beside it. The head comes last."""

from __future__ import annotations

from collections.abc import Callable

from gpuledger.extract.archive.objects import Objects
from gpuledger.warehouse import integrity
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import files
from gpuledger.warehouse.shared import head as heads
from gpuledger.warehouse.shared.head import Head, Published

#: Versions that a store keeps: the one before the newest stays for readers that are loading it.
_KEPT = 2


class Diverged(WarehouseError):
    """A data directory and the store hold two different histories."""


def send(data: DataDir, store: Objects, send_pages: Callable[[], None]) -> None:
    """Send what the store lacks, then name it in the head, and remove what the head no longer names.

    `send_pages` sends the pages of the archive. The caller holds the writer's lock. Raises Diverged if another machine
    published in the store, and StoreError.
    """
    note, was = files.note_of(data, store), heads.read_head(store)
    if was.published is not None and was.published.sha256 not in (note.version, *integrity.noted(data).values()):
        raise Diverged(
            f"{store.address} holds what another machine published, and one machine writes into a store: set another "
            f"store for {data.root}, or let that machine publish alone"
        )
    versions, sha256 = was.versions, published_sum(data)
    if sha256 and (was.published is None or was.published.sha256 != sha256):
        send_pages()  # first, as the version refers to them
        run_id = data.published.resolve().parent.name
        key = f"versions/{run_id}-{sha256[:16]}.duckdb"
        store.upload(key, data.published)
        versions = (*versions, Published(run_id, key, sha256, data.published.stat().st_size))[-_KEPT:]
    now = Head(versions=versions, files=files.send(data, store, was))
    if now != was:
        heads.write(store, now)
        named = {version.key for version in versions} | {files.key_of(file.sha256) for file in now.files.values()}
        for folder in ("versions/", "files/"):
            store.delete([entry.key for entry in store.listed(folder) if entry.key not in named])
    note.take(now.files)
    files.keep(data, note, store, sha256)


def published_sum(data: DataDir) -> str:
    """The recorded sum of the version that is published in the directory; empty if there is none."""
    if not data.published.exists():
        return ""
    path = data.published.resolve()
    return integrity.noted(data).get(integrity.name_of(path)) or integrity.digest(path)
