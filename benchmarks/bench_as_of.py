"""A hundred days spread over three real years: what the file that holds them all says of each, and a replay stopped there.

A history that grows from one of the days to the next is, at each, what a replay stopped at it makes. The command replays
some of them from the archive, too.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from benchmarks import stopped
from benchmarks.stopped import Answers
from gpuledger.warehouse.paths import DataDir
from tests.support import market_history as market
from tests.support.served import ROOT, command, environment

DAYS = 100
#: Of the days, by number: those at which the command stops a replay as well.
REPLAYED = (10, 25)
#: On every seventh of the days the last rates are so old that they no longer count.
OLD_EVERY, OLD = 7, timedelta(days=6)
#: Days after the first night when each of Tom's pages was read. They have figures of cards that came out years later.
FIGURES = {"toms_gpu_hierarchy": 1, "toms_ai_articles": 500}

Rows = list[tuple[str, str, str, bool | None]]


def run() -> Rows:
    """What was measured, the measure, the bound asked for, and whether it is kept. Empty without the real prices."""
    if not market.files():
        return []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        data = DataDir(root / "data")
        told = _grow(data.root)
        days = sorted(told)
        later = {day: stopped.as_of(data, day) for day in days}
        then = {day: _replayed(data, root / str(day), day) for day in (days[number] for number in REPLAYED)}
        return _rows(told, then, later)


def _rows(told: Mapping[date, Answers], then: Mapping[date, Answers], later: Mapping[date, Answers]) -> Rows:
    rows: Rows = []
    for macro in stopped.QUESTIONS:
        wrong = [day for day in told if later[day][macro] != told[day][macro]]
        answers = sum(len(told[day][macro]) for day in told)
        what = f"days of {len(told)} for which {macro} says what a replay stopped there does, {answers:,} rows"
        first = f", not {wrong[0]}" if wrong else ""
        rows.append((what, f"{len(told) - len(wrong)}{first}", str(len(told)), not wrong))
    same = sum(told[day] == answers for day, answers in then.items())
    return [*rows, (f"… {len(then)} of them replayed by the command", str(same), str(len(then)), same == len(then))]


def _grow(root: Path) -> dict[date, Answers]:
    """Load all nights, and stop at each of the days; what was published there."""
    files = {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in market.files()}
    nights = market.read(root.with_name("archive"))
    first, last = nights[0][0].date(), nights[-1][0].date()
    figures = {source: first + timedelta(days=after) for source, after in FIGURES.items()}
    told = {}
    before = date.min
    for number in range(1, DAYS + 1):
        day = first + (last - first) * number / DAYS
        here = [crawl for crawl in nights if before < crawl[0].date() <= day]
        is_old = number % OLD_EVERY == 0
        there = [crawl for crawl in here if not is_old or crawl[0].date() <= day - OLD]
        stopped.night(root, there, files, _end(day - OLD if is_old else day))
        if rest := here[len(there) :]:
            stopped.night(root, rest, files, None)
        for source in (source for source, since in figures.items() if before < since <= day):
            stopped.figures(root, _end(day), source)
        told[day] = stopped.published(DataDir(root))
        before = day
    return told


def _end(day: date) -> datetime:
    return datetime.combine(day, time(22), UTC)


def _replayed(data: DataDir, to: Path, day: date) -> Answers:
    """What an operator gets who asks for a day's state again."""
    words = command("replay", "--until", day, "--to", to, data=data.root)
    subprocess.run(words, cwd=ROOT, env=environment(), check=True, capture_output=True)
    return stopped.published(DataDir(to))
