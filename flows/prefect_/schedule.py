"""When a night is due, and whether it was done: no night missed, none twice, whatever the clock does.

Prefect decides when a run starts; this module decides what that run is for. The two differ where clocks are changed: for
a time that a spring night skips (02:30 in New York), Prefect 3.8 plans 01:30, and still offers it when that has passed.
They differ also after a machine was off for three days, when three runs are late at once, and where somebody sets the
clock. So a scheduled run first asks which tick of the schedule it stands for, and leaves where that tick is done.
"""

from __future__ import annotations

from collections.abc import Collection, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from prefect.server.schemas.schedules import CronSchedule

#: Days in which a tick is looked for, the nearest first: of a cron line that fires every minute only a thousand ticks come
#: out at once, and a yearly one has none for long.
_WINDOWS = (0.25, 2, 35, 400)
#: Prefect starts a run up to its prefetch time early, and two machines' clocks differ by a little.
EARLY = timedelta(seconds=60)


class BadSchedule(ValueError):
    """The cron line or the time zone is none; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron line, meant in the local time of an IANA time zone. Raises BadSchedule where either is none."""

    cron: str
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise BadSchedule(f"there is no time zone {self.time_zone!r}; one is Europe/Berlin, for example") from None
        try:
            _planner(self.cron)
        except ValueError:
            raise BadSchedule(f"{self.cron!r} is no cron line; every night at three is '0 3 * * *'") from None

    def last(self, now: datetime) -> datetime | None:
        """The newest tick that is not after `now`, in UTC; None where there is none within 400 days."""
        for days in _WINDOWS:
            found = [tick for tick in self.between(now - timedelta(days=days), now) if tick <= now]
            if found:
                return found[-1]
        return None

    def next(self, now: datetime) -> datetime | None:
        """The first tick after `now`, in UTC; None where there is none within 400 days."""
        for days in _WINDOWS:
            found = [tick for tick in self.between(now, now + timedelta(days=days)) if tick > now]
            if found:
                return found[0]
        return None

    def between(self, start: datetime, end: datetime) -> list[datetime]:
        """Ticks from `start` to `end`, both included, in UTC, at most a thousand.

        A wall-clock time that is skipped when clocks go forward moves forward by as much; of one that comes twice the
        first counts. So a daily schedule has one tick on every local day.
        """
        start, end, zone = _plain(start), _plain(end), ZoneInfo(self.time_zone)
        first, last = (time.astimezone(zone).replace(tzinfo=UTC) for time in (start, end))
        # In UTC no hour is skipped or repeated: what comes out are the wall-clock times alone. A day more at both ends,
        # since wall-clock times do not order instants.
        walls = _run(
            _planner(self.cron).get_dates(n=1000, start=first - timedelta(hours=3), end=last + timedelta(hours=3))
        )
        ticks = {_instant(datetime.fromisoformat(wall.isoformat()).replace(tzinfo=None), zone) for wall in walls}
        return sorted(tick for tick in ticks if start <= tick <= end)

    def tick_of(self, due: datetime, now: datetime) -> datetime | None:
        """The tick that a run which Prefect planned for `due` stands for at `now`.

        The newest that has come, so that of several late runs the first does the work of all. A `due` that is no tick at
        all is one of Prefect's inventions around a change of the clocks, and stands for the tick next to it.
        """
        due = _plain(due)
        near = self.between(due - timedelta(hours=3), due + timedelta(hours=3))
        if near and due not in near:
            closest = min(near, key=lambda tick: abs(tick - due))
            if closest > now:
                return closest
        return self.last(now + EARLY)


def is_done(tick: datetime, done: Collection[datetime]) -> bool:
    """Whether `tick` or a later one was published. A later one: the clock was wrong then, or is now."""
    return any(other >= tick for other in done)


@cache
def _planner(cron: str) -> CronSchedule:
    """Prefect's own reading of a cron line. Kept: each one lists all time zones of the machine when it is made."""
    return CronSchedule(cron=cron, timezone="UTC")


def _plain(time: datetime) -> datetime:
    """Prefect's times are of a subclass whose arithmetic has rules of its own."""
    return datetime.fromtimestamp(time.timestamp(), UTC)


def _instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant of a wall-clock time: the first where it comes twice, moved forward where it is skipped (PEP 495)."""
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing, from inside a running event loop as well as outside one."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("the schedule's dates are no longer computed at once")
