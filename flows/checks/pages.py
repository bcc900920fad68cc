"""Which two archived pages of a source to lay side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpuledger.extract import local_files, objects
from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import parse_page
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.items import Aside, Item
from gpuledger.extract.source import Page
from gpuledger.flows.night.context import utc_now
from gpuledger.transform.answers import drifting
from gpuledger.transform.answers.drifting import Drifting
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir


class NoPair(ExtractError):
    """There are no two pages to compare."""


def drifts(data: DataDir, source: str) -> list[Drifting]:
    """What drifted on the source's newest night; nothing where nothing was ever published."""
    try:
        return drifting.of(data, source)
    except NoWarehouse:
        return []


def pair(data: DataDir, source: str, page: str | None, against: str | None) -> tuple[Page, Page]:
    """The earlier and the newer page: those that are asked for by the beginnings of their hashes, else those of the drift
    that was found last, else the newest page and the one that stood at its address before.

    Raises NoPair, and CorruptSnapshot.
    """
    archive = Archive(data.snapshots, objects.of(data.store))
    history = [one for one in archive.history(source) if not one.headers.get("content-type", "").startswith("image/")]
    if not history:
        raise NoPair(source, "no page of it is archived", f"`gpuledger refresh --only {source}` archives its pages")
    found = next((one for one in drifts(data, source) if one.sha256 and one.before), None)
    if page is None and found is not None:
        page, against = found.sha256, against or found.before
    now = _named(history, source, page) if page else _newest_that_changed(history)
    then = _named(history, source, against) if against else _before(history, source, now)
    return archive.page(then), archive.page(now)


def one(data: DataDir, source: str, place: str) -> Page:
    """A page by its file, or by the beginning of its hash in the archive. Raises NoPair, OSError, and CorruptSnapshot."""
    path = Path(place)
    if not path.exists():
        archive = Archive(data.snapshots, objects.of(data.store))
        return archive.page(_named([*archive.history(source)], source, place))
    content = local_files.read_page(path)
    address = f"file:{path.name}"
    return Page(
        url=address, final_url=address, content=content, sha256=hashlib.sha256(content).hexdigest(),
        fetched_at=utc_now(), headers={},
    )  # fmt: skip


def rows(data: DataDir, source: str) -> list[Item]:
    """What the source's newest archived pages say, as it is read now; pages that cannot be read are passed over."""
    archive, chosen = Archive(data.snapshots, objects.of(data.store)), sources.get(source)
    newest = {one.url: one for one in archive.history(source)}
    found: list[Item] = []
    for snapshot in newest.values():
        if not snapshot.headers.get("content-type", "").startswith("image/"):
            with suppress(ExtractError):
                found += [item for item in parse_page(chosen, archive.page(snapshot)) if not isinstance(item, Aside)]
    return found


def _named(history: Sequence[Snapshot], source: str, beginning: str) -> Snapshot:
    hits = {one.sha256: one for one in history if one.sha256.startswith(beginning)}
    if len(hits) != 1:
        what = "several archived pages begin" if hits else "it is no file, and no archived page begins"
        raise NoPair(source, f"{what} with {beginning}", f"`gpuledger sources diff {source}` chooses two pages itself")
    return next(iter(hits.values()))


def _newest_that_changed(history: Sequence[Snapshot]) -> Snapshot:
    """The newest fetch whose address had another page before; where none had, the newest."""
    pages: dict[str, set[str]] = {}
    for one in history:
        pages.setdefault(one.url, set()).add(one.sha256)
    return next((one for one in reversed(history) if len(pages[one.url]) > 1), history[-1])


def _before(history: Sequence[Snapshot], source: str, now: Snapshot) -> Snapshot:
    earlier = [one for one in history if one.url == now.url and one.sha256 != now.sha256]
    older = [one for one in earlier if one.fetched_at <= now.fetched_at] or earlier
    if not older:
        raise NoPair(
            source, f"one page alone is archived of {now.url}", "compare again when it has changed, or name two by hash"
        )
    return older[-1]
