"""A source whose addresses are those of many shops is read shop by shop: each is waited for, and fails, on its own.

Read in one go, the pause between two requests to one shop would be waited for by all others, one shop that is slow would
take the time of the source, and half of the shops blocking us would cost the prices of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch import addresses
from gpuledger.extract.items import Issue

_Part = TypeVar("_Part")


def apart(reading: Reading) -> list[Reading]:
    """The reading itself; or one for each shop of a source of many, in the order of their first addresses."""
    starts: dict[str, list[str]] = {}
    for start in reading.starts:
        starts.setdefault(addresses.shop_of(start), []).append(start)
    if not reading.source.is_of_many_shops or len(starts) < 2:
        return [reading]
    # Files are of no shop, and go with the first.
    files = [reading.files, *[()] * (len(starts) - 1)]
    return [
        Reading(reading.source, of_shop, of_it, shop)
        for (shop, of_shop), of_it in zip(starts.items(), files, strict=True)
    ]


def of_shop(fetched: Sequence[Snapshot], shop: str) -> list[Snapshot]:
    """Those of the pages that are of the shop; all of them where none is named."""
    return [page for page in fetched if not shop or addresses.shop_of(page.url) == shop]


def joined(batches: Sequence[Collected]) -> list[Collected]:
    """One batch for each source, of those that were read apart, in the order in which the sources come first.

    A source has failed where all of its shops have. Else a shop that failed gives no rows, as a source that failed gives
    none, and each of its failures is an issue.
    """
    by_source: dict[str, list[Collected]] = {}
    for batch in batches:
        by_source.setdefault(batch.source, []).append(batch)
    return [_joined(own) if len(own) > 1 else own[0] for own in by_source.values()]


def _joined(batches: Sequence[Collected]) -> Collected:
    good = [batch for batch in batches if batch.failure is None]
    read = good or batches
    totals = [batch.stated_total for batch in batches]
    return replace(
        batches[0],
        shop="",
        rows=_all(batch.rows for batch in read),
        issues=_all(_issues(batch) for batch in batches),
        images={address: sha256 for batch in read for address, sha256 in batch.images.items()},
        # A page of a shop that failed must not count as one without a row.
        parsed=_all(batch.parsed for batch in read),
        looked=_all(batch.looked for batch in read),
        pages=sum(batch.pages for batch in batches),
        pages_unchanged=sum(batch.pages_unchanged for batch in batches),
        size_bytes=sum(batch.size_bytes for batch in batches),
        failure=None if good else batches[0].failure,
        is_complete=all(batch.is_complete for batch in batches),
        starts=_all(batch.starts for batch in batches),
        files=_all(batch.files for batch in batches),
        fetched=sum(batch.fetched for batch in batches),
        missed=_all(batch.missed for batch in batches),
        stated_total=None if None in totals else sum(total or 0 for total in totals),
        listed=sum(batch.listed for batch in batches),
    )


def _issues(batch: Collected) -> Sequence[tuple[Issue, str | None]]:
    """With what the shop failed of, where no page of it tells that."""
    error = batch.failure
    if error is None or any(issue.severity == "error" for issue, _ in batch.issues):
        return batch.issues
    told = Issue(code=type(error).__name__, message=f"{error.seen}; {error.action}", severity="error", url=error.url)
    return [*batch.issues, (told, None)]


def _all(parts: Iterable[Sequence[_Part]]) -> list[_Part]:
    return list(chain.from_iterable(parts))
