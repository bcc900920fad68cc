"""A correction held against what the source says, before it is kept."""

from __future__ import annotations

from gpuledger.extract.near import near
from gpuledger.flows.checks import pages
from gpuledger.flows.night.context import utc_now
from gpuledger.warehouse.load import corrected
from gpuledger.warehouse.load.corrected import Correction
from gpuledger.warehouse.paths import DataDir

#: Sources whose nights are loaded in bulk, where no correction is put in.
_IN_BULK = ("danawa_daily",)


def correction(data: DataDir, place: tuple[str, str, str], old: str | None, new: str | None, reason: str) -> Correction:
    """The correction of a source, a key and a field, made now. `old` is what the newest archived page says unless given.

    Raises ValueError, with the way out, where there is no such row, or where it would make no row.
    """
    source, key, field = place
    if source in _IN_BULK:
        raise ValueError(
            f"the nights of {source} are loaded by `gpuledger backfill`, which takes their files as they are"
        )
    if not reason.strip():
        raise ValueError("a correction needs a --reason: whoever reads it later must know how you know")
    rows = {corrected.key_text(source, item): item for item in pages.rows(data, source)}
    if key not in rows:
        close = near(key, rows)
        meant = (
            f"; did you mean {close[0]}?"
            if close
            else f"; `gpuledger refresh --only {source}` reads its pages" * (not rows)
        )
        raise ValueError(f"no row of {source} has the key {key!r} on its newest archived pages{meant}")
    item = rows[key]
    corrected.changed(source, item, {field: new})
    says = corrected.text_of(item, field)
    if (old if old is not None else says) == new:
        raise ValueError(f"{source} says {says!r} in {field} already: there is nothing to correct")
    decided = utc_now().replace(microsecond=0)
    return Correction(
        source=source, key=key, field=field, old=says if old is None else old, new=new, reason=reason, decided=decided
    )
