"""When a night is due, and whether it was done: every night is done once, whatever the clock does.

Prefect decides when a run starts, and this module decides for which night. The two differ after a machine was off for three
days, when three runs are late at once, and when somebody sets the clock. So a scheduled run first looks which tick of the
schedule has come last, and ends if that tick is done. Where clocks change, a tick is what Prefect's server makes of it too.

Shown by tests/ops/test_schedule.py, with Prefect's own scheduler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

#: Days to search for a tick, the shortest first. A cron line that fires every minute has too many ticks in a long window, as
#: only a thousand come out at once, and a yearly line has none in a short one.
_WINDOWS = (0.25, 2, 35, 400)
#: Prefect may start a run early, up to its prefetch time, and the clocks of two machines differ a little.
EARLY = timedelta(seconds=60)


class BadSchedule(ValueError):
    """The cron line or the time zone is not valid. The message says which and why."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron line in the local time of an IANA time zone. Raises BadSchedule if one of the two is not valid."""

    cron: str
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise BadSchedule(f"there is no time zone {self.time_zone!r}; one is Europe/Berlin, for example") from None
        # Imported here and below, as an installation that only reads the warehouse has no croniter.
        from croniter import croniter

        # Prefect's server refuses random and hashed times, which croniter would take.
        if not croniter.is_valid(self.cron) or {"r", "h"} & set(self.cron.lower().split()):
            raise BadSchedule(f"{self.cron!r} is no cron line; every night at three is '0 3 * * *'")

    def last(self, now: datetime) -> datetime | None:
        """The newest tick that is not after `now`, in UTC; None if there is no tick within 400 days."""
        for days in _WINDOWS:
            past = [tick for tick in self.between(now - timedelta(days=days), now) if tick <= now]
            if past:
                return past[-1]
        return None

    def next(self, now: datetime) -> datetime | None:
        """The first tick after `now`, in UTC; None if there is no tick within 400 days."""
        for days in _WINDOWS:
            coming = [tick for tick in self.between(now, now + timedelta(days=days)) if tick > now]
            if coming:
                return coming[0]
        return None

    def between(self, start: datetime, end: datetime) -> list[datetime]:
        """Ticks from `start` to `end`, both included, in UTC, at most a thousand.

        A wall-clock time that is skipped when clocks go forward moves forward by as much. If a wall-clock time comes twice,
        the first counts. So a daily schedule has one tick on every local day.
        """
        start, end, zone = _plain(start), _plain(end), ZoneInfo(self.time_zone)
        first, last = (time.astimezone(zone).replace(tzinfo=None) for time in (start, end))
        # Without a zone no hour is skipped or repeated, so these are pure wall-clock times. The range has some hours more at
        # both ends, since the order of wall-clock times is not the order of instants.
        walls = self._wall_times(first - timedelta(hours=3), last + timedelta(hours=3))
        # The first instant of a wall-clock time that comes twice; one that is skipped moves forward (PEP 495).
        ticks = {wall.replace(tzinfo=zone, fold=0).astimezone(UTC) for wall in walls}
        return sorted(tick for tick in ticks if start <= tick <= end)

    def _wall_times(self, first: datetime, last: datetime) -> Iterator[datetime]:
        """The times on a clock's face from `first` to `last`, both included, at most a thousand."""
        from croniter import croniter

        # croniter begins after its start time. For a line that never fires (30 February) it would search 50 years.
        behind = first.replace(microsecond=0) - timedelta(seconds=1)
        times = croniter(self.cron, behind, ret_type=datetime, max_years_between_matches=2)
        return takewhile(lambda wall: wall <= last, islice(times.all_next(datetime), 1000))

    def tick_of(self, now: datetime) -> datetime | None:
        """The tick that a run which Prefect starts at `now` stands for.

        It is the newest tick that has come, so if several runs are late, the first does the work of all.
        """
        return self.last(now + EARLY)


def is_done(tick: datetime, done: Collection[datetime]) -> bool:
    """Whether `tick` or a later tick was published. A later one means that the clock was wrong then, or is wrong now."""
    return any(done_tick >= tick for done_tick in done)


def _plain(time: datetime) -> datetime:
    """The time as a plain datetime in UTC. Prefect's times are of a subclass whose arithmetic has its own rules."""
    return datetime.fromtimestamp(time.timestamp(), UTC)
