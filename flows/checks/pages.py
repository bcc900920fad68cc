"""What the newest archived pages of a source say: a correction is checked against it before it is stored."""

from __future__ import annotations

from contextlib import suppress

from gpuledger.errors import ExtractError
from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import parse_page
from gpuledger.flows.night.context import utc_now
from gpuledger.items import Aside, Item
from gpuledger.spelling import names_like
from gpuledger.warehouse.load import corrected
from gpuledger.warehouse.load.corrected import Correction
from gpuledger.warehouse.paths import DataDir

#: Sources whose nights are loaded in bulk. Corrections are not applied to them.
_IN_BULK = ("danawa_daily",)


def newest_items(data: DataDir, source: str) -> list[Item]:
    """The items on the source's newest archived pages, parsed again now. Pages that cannot be parsed are skipped."""
    archive, chosen = Archive.at(data.snapshots, data.store), sources.get(source)
    newest = {snapshot.url: snapshot for snapshot in archive.history(source)}
    items: list[Item] = []
    for snapshot in newest.values():
        if not snapshot.headers.get("content-type", "").startswith("image/"):
            with suppress(ExtractError):
                items += [item for item in parse_page(chosen, archive.page(snapshot)) if not isinstance(item, Aside)]
    return items


def correction(data: DataDir, place: tuple[str, str, str], old: str | None, new: str | None, reason: str) -> Correction:
    """A correction of one field, decided now. `place` is the source, the key and the field.

    If `old` is None, the value of the newest archived page is taken for it.

    Raises ValueError, with the way out, if there is no such row, or if the corrected row would not be valid.
    """
    source, key, field = place
    if source in _IN_BULK:
        raise ValueError(
            f"the nights of {source} are loaded by `gpuledger backfill`, which takes their files as they are"
        )
    if not reason.strip():
        raise ValueError("a correction needs a --reason: whoever reads it later must know how you know")
    rows = {corrected.key_text(source, item): item for item in newest_items(data, source)}
    if key not in rows:
        close = names_like(key, rows)
        hint = (
            f"; did you mean {close[0]}?"
            if close
            else f"; `gpuledger refresh --only {source}` reads its pages" * (not rows)
        )
        raise ValueError(f"no row of {source} has the key {key!r} on its newest archived pages{hint}")
    item = rows[key]
    corrected.changed(source, item, {field: new})
    value = corrected.text_of(item, field)
    if (old if old is not None else value) == new:
        raise ValueError(f"{source} says {value!r} in {field} already: there is nothing to correct")
    decided = utc_now().replace(microsecond=0)
    return Correction(
        source=source, key=key, field=field, old=value if old is None else old, new=new, reason=reason, decided=decided
    )
