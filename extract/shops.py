"""Splits a source with addresses of many shops, so that each shop is read, waited for and can fail on its own.

If such a source were read at once, all shops would wait for the pause between two requests to one shop. One slow shop would
use up the time of the source. And if half of the shops blocked us, the prices of the others would be lost too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch import addresses
from gpuledger.items import Issue

_Part = TypeVar("_Part")


def apart(reading: Reading) -> list[Reading]:
    """The reading itself, or one reading for each shop of a source of many shops, in the order of their first addresses."""
    starts: dict[str, list[str]] = {}
    for start in reading.starts:
        starts.setdefault(addresses.shop_of(start), []).append(start)
    if not reading.source.is_of_many_shops or len(starts) < 2:
        return [reading]
    # Files belong to no shop, so they go with the first shop.
    files = [reading.files, *[()] * (len(starts) - 1)]
    return [
        Reading(reading.source, of_shop, of_it, shop)
        for (shop, of_shop), of_it in zip(starts.items(), files, strict=True)
    ]


def of_shop(fetched: Sequence[Snapshot], shop: str) -> list[Snapshot]:
    """The pages of one shop. All pages if `shop` is empty."""
    return [page for page in fetched if not shop or addresses.shop_of(page.url) == shop]


def joined(batches: Sequence[Collected]) -> list[Collected]:
    """One batch for each source, joined from the batches of its shops, in the order in which the sources first appear.

    A source has failed if all of its shops have failed. Otherwise a shop that failed gives no rows, like a source that
    failed, and each of its failures becomes an issue.
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
        # A page of a shop that failed must not count as a page without rows.
        parsed=_all(batch.parsed for batch in read),
        pages=sum(batch.pages for batch in batches),
        pages_unchanged=sum(batch.pages_unchanged for batch in batches),
        size_bytes=sum(batch.size_bytes for batch in batches),
        failure=None if good else batches[0].failure,
        unread=_all([batch.failure] if batch.failure else batch.unread for batch in batches),
        is_complete=all(batch.is_complete for batch in batches),
        starts=_all(batch.starts for batch in batches),
        files=_all(batch.files for batch in batches),
        fetched=sum(batch.fetched for batch in batches),
        missed=_all(batch.missed for batch in batches),
        stated_total=None if None in totals else sum(total or 0 for total in totals),
        listed=sum(batch.listed for batch in batches),
    )


def _issues(batch: Collected) -> Sequence[tuple[Issue, str | None]]:
    """The issues of a shop, with its failure as an issue if none of them is an error."""
    error = batch.failure
    if error is None or any(issue.severity == "error" for issue, _ in batch.issues):
        return batch.issues
    issue = Issue(code=type(error).__name__, message=f"{error.seen}; {error.action}", severity="error", url=error.url)
    return [*batch.issues, (issue, None)]


def _all(parts: Iterable[Sequence[_Part]]) -> list[_Part]:
    return list(chain.from_iterable(parts))
