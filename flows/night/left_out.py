"""What a night leaves out by itself: a site whose robots.txt forbids reading is not asked again every night."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from gpuledger.extract import source as sources
from gpuledger.extract.source import Source
from gpuledger.flows.night.context import Context
from gpuledger.transform.answers import sources as measured
from gpuledger.transform.answers.sources import Record
from gpuledger.warehouse.errors import WarehouseError

#: A site may change its mind: after so many days the night asks for its robots.txt once more, and for nothing else where
#: that still forbids.
AGAIN_DAYS = 30


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A source that nights leave out since its robots.txt forbade it, and the time from which they ask again."""

    source: str
    since: datetime
    again: datetime


def of_night(context: Context) -> list[LeftOut]:
    """What this run leaves out; nothing where it reads the sample, or where a person named the sources."""
    if context.sample_night is not None or context.only or context.settings.sources:
        return []
    try:
        known = measured.records(context.data)
    except WarehouseError:
        # Nothing was published yet, or the file is damaged: the night itself says so, and puts a whole one in its place.
        return []
    return by_default(known, sources.discover(), context.as_of)


def by_default(known: Mapping[str, Record], chosen: Iterable[Source], now: datetime) -> list[LeftOut]:
    """Those of the sources that a night at `now` leaves out by what is `known`, where no person named its sources.

    An interface is asked with its key, and addresses of a person's own choice are that person's: neither is left out.
    """
    found = [
        LeftOut(source.name, since, since + timedelta(days=AGAIN_DAYS))
        for source in chosen
        if source.start
        and source.access is None
        and source.name in known
        and (since := known[source.name].forbidden_at) is not None
    ]
    return [one for one in found if now < one.again]
