"""What a night leaves out by itself: a site whose robots.txt forbids reading, or whose terms do, as a person read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from gpuledger.extract import source as sources
from gpuledger.extract.source import Source
from gpuledger.flows.night.context import Context
from gpuledger.flows.setup import terms
from gpuledger.flows.setup.terms import Terms
from gpuledger.transform.answers import sources as measured
from gpuledger.transform.answers.sources import Record
from gpuledger.warehouse.errors import WarehouseError

#: A site may change its mind: after so many days the night asks for its robots.txt once more, and for nothing else where
#: that still forbids.
AGAIN_DAYS = 30


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A source that nights leave out since its robots.txt forbade it, and the time from which they ask again.

    Or since a person read in its `terms` that they forbid it: then it is asked again when a person takes that back.
    """

    source: str
    since: datetime
    again: datetime | None
    terms: Terms | None = None


def of_night(context: Context) -> list[LeftOut]:
    """What this run leaves out; nothing where it reads the sample, or where a person named the sources."""
    if context.sample_night is not None or context.only or context.settings.sources:
        return []
    read = terms.of(context.data)
    try:
        known = measured.records(context.data)
    except WarehouseError:
        # Nothing was published yet, or the file is damaged: the night itself says so, and puts a whole one in its place.
        known = {}
    return by_default(known, sources.discover(), context.as_of, read)


def by_default(
    known: Mapping[str, Record], chosen: Iterable[Source], now: datetime, read: Mapping[str, Terms]
) -> list[LeftOut]:
    """Those of the sources that a night at `now` leaves out, where no person named its sources.

    `known` is how they went, `read` what people read in their terms. An interface is asked with its key, and addresses of a
    person's own choice are that person's: robots.txt leaves out neither.
    """
    chosen = list(chosen)
    forbidden = [
        LeftOut(name, datetime.combine(one.read, time(), UTC), None, one)
        for name in (source.name for source in chosen)
        if (one := read.get(name)) is not None and one.says == "forbidden"
    ]
    found = [
        LeftOut(source.name, since, since + timedelta(days=AGAIN_DAYS))
        for source in chosen
        if source.name not in {one.source for one in forbidden}
        and source.start
        and source.access is None
        and source.name in known
        and (since := known[source.name].forbidden_at) is not None
    ]
    return forbidden + [one for one in found if one.again is not None and now < one.again]
