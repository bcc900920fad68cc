"""The sources that a night leaves out by itself: robots.txt forbids reading the site, or a person read so in its terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from gpuledger.extract import source as sources
from gpuledger.extract.source import Source
from gpuledger.flows.decisions.terms import TERMS, Terms
from gpuledger.flows.night.context import Context
from gpuledger.transform.answers.trust import sources as measured
from gpuledger.transform.answers.trust.sources import Record
from gpuledger.warehouse.errors import WarehouseError

#: A site may change its mind. After so many days the night requests its robots.txt once more, and nothing else if that still
#: forbids reading.
AGAIN_DAYS = 30


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A source that nights leave out.

    Its robots.txt forbids reading, and nights request that again from the time `again` on. Or a person read in its terms
    that they forbid it: then `again` is None, and the source stays left out until a person withdraws that.
    """

    source: str
    since: datetime
    again: datetime | None


def of_night(context: Context) -> list[LeftOut]:
    """The sources that this run leaves out; none if it reads the sample, or if a person named the sources."""
    if context.sample_night is not None or context.only or context.settings.sources:
        return []
    terms_read = TERMS.by_key(context.data.root)
    try:
        known = measured.records(context.data)
    except WarehouseError:
        # Nothing was published yet, or the file is damaged: the night itself reports that, and restores an undamaged file.
        known = {}
    return by_default(known, sources.discover(), context.as_of, terms_read)


def by_default(
    known: Mapping[str, Record], chosen: Iterable[Source], now: datetime, terms_read: Mapping[str, Terms]
) -> list[LeftOut]:
    """The sources among `chosen` that a night at `now` leaves out, if no person named its sources.

    `known` is how they went on earlier nights, `terms_read` what people read in their terms. robots.txt leaves out neither
    an interface, which is used with its key, nor addresses that a person chose.
    """
    chosen = list(chosen)
    forbidden = [
        LeftOut(name, datetime.combine(terms_of_source.read, time(), UTC), None)
        for name in (source.name for source in chosen)
        if (terms_of_source := terms_read.get(name)) is not None and terms_of_source.says == "forbidden"
    ]
    by_robots = [
        LeftOut(source.name, since, since + timedelta(days=AGAIN_DAYS))
        for source in chosen
        if source.name not in {left_out.source for left_out in forbidden}
        and source.start
        and source.access is None
        and source.name in known
        and (since := known[source.name].forbidden_at) is not None
    ]
    return forbidden + [left_out for left_out in by_robots if left_out.again is not None and now < left_out.again]
