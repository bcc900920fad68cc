"""Choose the pages of a source that `sources diff` compares, and read its newest archived pages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gpuledger.extract import source as sources
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import parse_page
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.items import Aside, Item
from gpuledger.extract.source import Page
from gpuledger.transform.answers.trust import drifting
from gpuledger.transform.answers.trust.drifting import Drifting
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir


class NoPair(ExtractError):
    """No page, or no second page, to compare was found."""


def drifts(data: DataDir, source: str) -> list[Drifting]:
    """What drifted on the source's newest night. Empty if nothing was ever published."""
    try:
        return drifting.drifting_of(data, source)
    except NoWarehouse:
        return []


def pair(data: DataDir, source: str, page: str | None, against: str | None) -> tuple[Page, Page]:
    """The earlier and the newer page to compare.

    `page` (the newer) and `against` (the earlier) may name them by the beginnings of their hashes. Otherwise they are the
    pages of the drift that was found last, or else the newest page and the page that its address had before.

    Raises NoPair and CorruptSnapshot.
    """
    archive = Archive(data.snapshots, objects.store_at(data.store))
    history = [
        snapshot
        for snapshot in archive.history(source)
        if not snapshot.headers.get("content-type", "").startswith("image/")
    ]
    if not history:
        raise NoPair(source, "no page of it is archived", f"`gpuledger refresh --only {source}` archives its pages")
    drift = next((drift for drift in drifts(data, source) if drift.sha256 and drift.before), None)
    if page is None and drift is not None:
        page, against = drift.sha256, against or drift.before
    now = _by_hash(history, source, page) if page else _newest_that_changed(history)
    then = _by_hash(history, source, against) if against else _before(history, source, now)
    return archive.page(then), archive.page(now)


def newest_items(data: DataDir, source: str) -> list[Item]:
    """The items on the source's newest archived pages, parsed again now. Pages that cannot be parsed are skipped."""
    archive, chosen = Archive(data.snapshots, objects.store_at(data.store)), sources.get(source)
    newest = {snapshot.url: snapshot for snapshot in archive.history(source)}
    items: list[Item] = []
    for snapshot in newest.values():
        if not snapshot.headers.get("content-type", "").startswith("image/"):
            with suppress(ExtractError):
                items += [item for item in parse_page(chosen, archive.page(snapshot)) if not isinstance(item, Aside)]
    return items


def _by_hash(history: Sequence[Snapshot], source: str, beginning: str) -> Snapshot:
    hits = {snapshot.sha256: snapshot for snapshot in history if snapshot.sha256.startswith(beginning)}
    if len(hits) != 1:
        problem = "several archived pages begin" if hits else "it is no file, and no archived page begins"
        raise NoPair(
            source, f"{problem} with {beginning}", f"`gpuledger sources diff {source}` chooses two pages itself"
        )
    return next(iter(hits.values()))


def _newest_that_changed(history: Sequence[Snapshot]) -> Snapshot:
    """The newest fetch whose address had another page before. If no address had, the newest fetch of all."""
    pages: dict[str, set[str]] = {}
    for snapshot in history:
        pages.setdefault(snapshot.url, set()).add(snapshot.sha256)
    return next((snapshot for snapshot in reversed(history) if len(pages[snapshot.url]) > 1), history[-1])


def _before(history: Sequence[Snapshot], source: str, now: Snapshot) -> Snapshot:
    others = [snapshot for snapshot in history if snapshot.url == now.url and snapshot.sha256 != now.sha256]
    older = [snapshot for snapshot in others if snapshot.fetched_at <= now.fetched_at] or others
    if not older:
        raise NoPair(
            source, f"one page alone is archived of {now.url}", "compare again when it has changed, or name two by hash"
        )
    return older[-1]
