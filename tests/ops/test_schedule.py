"""Four hundred nights by an injected clock, with Prefect's own scheduler planning them as its server does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from prefect.server.schemas.schedules import CronSchedule

from gpuledger.flows.prefect_.schedule import BadSchedule, Schedule, is_done

ZONES = ("America/New_York", "Europe/Berlin", "Asia/Seoul")
START = datetime(2025, 10, 1, tzinfo=UTC)
NIGHTS = 400


class Serving:
    """Prefect's scheduler, which plans the next runs at every look, and a runner that starts what is due.

    A planned time is planned once: the server keys its runs by it. What the run does is ours: it asks which tick it is.
    """

    def __init__(self, cron: str, zone: str) -> None:
        self.planner = CronSchedule(cron=cron, timezone=zone)
        self.schedule = Schedule(cron, zone)
        self.planned: set[datetime] = set()
        self.started: set[datetime] = set()
        self.done: list[datetime] = []
        self.skipped = 0

    def look(self, now: datetime) -> None:
        # Three runs at least, as PREFECT_SERVER_SERVICES_SCHEDULER_MIN_RUNS says. No date is awaited for.
        coroutine = self.planner.get_dates(n=3, start=now)
        try:
            coroutine.send(None)
        except StopIteration as end:
            self.planned |= {found.astimezone(UTC) for found in end.value}
        for due in sorted(self.planned - self.started):
            if due <= now:
                self.started.add(due)
                self.run(now)

    def run(self, now: datetime) -> None:
        tick = self.schedule.tick_of(now)
        if tick is None or is_done(tick, self.done):
            self.skipped += 1
        else:
            self.done.append(tick)

    def days(self) -> list[date]:
        return [tick.astimezone(ZoneInfo(self.schedule.time_zone)).date() for tick in self.done]


#: Days on which a zone of the test changes its clocks.
CHANGES = (
    date(2025, 10, 26),
    date(2025, 11, 2),
    date(2026, 3, 8),
    date(2026, 3, 29),
    date(2026, 10, 25),
    date(2026, 11, 1),
)


def looks(start: datetime, end: datetime) -> Iterator[datetime]:
    """Times at which the server looks: every ten minutes on the days of a change, else every eight hours."""
    now = start
    while now < end:
        yield now
        now += timedelta(minutes=10) if now.date() in CHANGES else timedelta(hours=8)


#: Three in the morning everywhere, and where clocks are changed the hour that is skipped and the one that comes twice.
TICKS = [
    *((zone, "0 3 * * *") for zone in ZONES),
    *((zone, cron) for zone in ZONES[:2] for cron in ("30 2 * * *", "30 1 * * *")),
]
FEW = (("America/New_York", "30 2 * * *"), ("Europe/Berlin", "30 1 * * *"), ("Asia/Seoul", "0 3 * * *"))


@pytest.mark.parametrize(
    ("zone", "cron"),
    [pytest.param(*tick, marks=[pytest.mark.slow_combination] * (tick not in FEW)) for tick in TICKS],
)
def test_four_hundred_nights_over_both_changes_of_the_clocks(zone: str, cron: str) -> None:
    serving = Serving(cron, zone)
    local = START.astimezone(ZoneInfo(zone)).date()
    for now in looks(START, START + timedelta(days=NIGHTS + 2)):
        serving.look(now)
    days = serving.days()
    first = days[0]
    assert first in (local, local + timedelta(days=1))
    assert days[:NIGHTS] == [first + timedelta(days=n) for n in range(NIGHTS)]


def test_a_time_that_the_night_skips_is_done_once_as_prefect_plans_it() -> None:
    serving = Serving("30 2 * * *", "America/New_York")
    for now in looks(datetime(2026, 3, 7, 12, tzinfo=UTC), datetime(2026, 3, 9, 12, tzinfo=UTC)):
        serving.look(now)
    half_past_three_in_summer_time = datetime(2026, 3, 8, 7, 30, tzinfo=UTC)
    assert serving.done == [half_past_three_in_summer_time, datetime(2026, 3, 9, 6, 30, tzinfo=UTC)]
    assert half_past_three_in_summer_time in serving.planned


def test_a_clock_that_goes_back_an_hour_doubles_nothing() -> None:
    serving = Serving("0 3 * * *", "Europe/Berlin")
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    for minutes in range(0, 3 * 24 * 60, 10):
        now = noon + timedelta(minutes=minutes)
        # From half past one UTC of the second day on (the run was at one) the clock is an hour behind for good.
        serving.look(now if now < datetime(2026, 6, 2, 1, 30, tzinfo=UTC) else now - timedelta(hours=1))
    assert serving.days() == [date(2026, 6, 2), date(2026, 6, 3), date(2026, 6, 4)]


def test_after_days_off_one_late_run_does_the_work_of_all() -> None:
    serving = Serving("0 3 * * *", "UTC")
    serving.look(datetime(2026, 6, 1, 12, tzinfo=UTC))
    serving.look(datetime(2026, 6, 4, 12, tzinfo=UTC))
    assert serving.days() == [date(2026, 6, 4)]
    assert serving.skipped == 2


def test_a_skipped_hour_moves_forward_and_a_repeated_one_counts_once() -> None:
    new_york = Schedule("30 2 * * *", "America/New_York")
    spring = new_york.between(datetime(2026, 3, 8, tzinfo=UTC), datetime(2026, 3, 8, 12, tzinfo=UTC))
    assert spring == [datetime(2026, 3, 8, 7, 30, tzinfo=UTC)]  # 03:30 EDT
    autumn = Schedule("30 1 * * *", "America/New_York").between(
        datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 1, 12, tzinfo=UTC)
    )
    assert autumn == [datetime(2026, 11, 1, 5, 30, tzinfo=UTC)]  # 01:30 EDT, the first of the two


def test_a_schedule_of_several_times_a_day_keeps_them_all() -> None:
    serving = Serving("0 */6 * * *", "Europe/Berlin")
    for minutes in range(0, 10 * 24 * 60, 20):
        serving.look(datetime(2026, 6, 1, tzinfo=UTC) + timedelta(minutes=minutes))
    assert len(serving.done) == 40


@pytest.mark.parametrize(
    ("cron", "next_run"), [("* * * * *", (2026, 6, 1, 12, 1)), ("0 0 29 2 *", None), ("0 0 1 1 *", (2027, 1, 1, 0, 0))]
)
def test_the_next_tick_near_and_far(cron: str, next_run: tuple[int, ...] | None) -> None:
    found = Schedule(cron).next(datetime(2026, 6, 1, 12, tzinfo=UTC))
    assert found == (datetime(*next_run, tzinfo=UTC) if next_run else None)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize("now", [datetime(2026, 6, 1, 12, tzinfo=UTC), datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)])
def test_the_last_tick_of_a_schedule_that_fires_every_minute(now: datetime) -> None:
    assert Schedule("* * * * *").last(now) == datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(("cron", "zone", "words"), [
    ("every night", "UTC", "no cron line"), ("0 3 * *", "UTC", "no cron line"), ("0 3 * * *", "Mars/Crater", "no time zone"),
    ("0 3 * * *", "../etc", "no time zone"), ("0 3 * * *", "", "no time zone"),
])  # fmt: skip
def test_what_is_no_schedule_is_said(cron: str, zone: str, words: str) -> None:
    with pytest.raises(BadSchedule, match=words):
        Schedule(cron, zone)
