"""What a terminal shows of long work: how far each step is and how long it took; nothing of it in a pipe."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from gpuledger.extract import source as sources
from gpuledger.flows.night.context import SILENT
from gpuledger.flows.telling.progress import Lines, duration, live_lines
from gpuledger.flows.words import lang


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def drawn(lines: Lines, width: int = 80) -> list[str]:
    """The lines on a terminal of `width` cells, without the spaces at their ends."""
    console = Console(width=width, file=io.StringIO(), force_terminal=True, no_color=True, record=True)
    console.print(lines.table())
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_sources_are_counted_and_the_page_that_is_read_is_named() -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.step("read", 3)
    lines.page("bhphoto", "https://www.bhphotovideo.com/c/buy/graphics-cards")
    lines.source_done()
    clock.now = 2.0
    lines.page("newegg", "https://www.newegg.com/list?page=2")
    (read,) = drawn(lines)
    assert " ".join(read.replace("━", "").split()[1:]) == "read 1 of 3 newegg: www.newegg.com/list?page=2 2.0 s"
    lines.step("check")
    read, check = drawn(lines)
    assert read.split() == ["✓", "read", "1", "of", "3", "2.0", "s"]
    assert check.split()[1:] == ["check", "0.0", "s"]


def test_a_step_that_comes_back_goes_on_and_keeps_its_time() -> None:
    clock = Clock()
    lines = Lines(clock)
    for _ in range(3):
        lines.step("check")
        clock.now += 2.0
        lines.step("load", 3)
        clock.now += 0.5
    assert list(lines.each(["a", "b", "c"])) == ["a", "b", "c"]
    lines.end()
    check, load = drawn(lines)
    assert check.split() == ["✓", "check", "6.0", "s"]
    assert load.split() == ["✓", "load", "3", "of", "3", "1.5", "s"]


def test_what_failed_is_marked_and_what_was_done_before_is_not() -> None:
    lines = Lines(Clock())
    lines.step("load")
    lines.step("build", 40)
    lines.at(12, "mart.value")
    lines.end(failed=True)
    load, build = drawn(lines)
    assert load.startswith("✓")
    assert build.split() == ["✗", "build", "12", "of", "40", "0.0", "s"]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    lines = Lines(Clock())
    lines.step("read", 20)
    for name in sources.names():
        lines.page(name, f"https://www.{name}.com/" + "very-long-name/" * 10)
    assert max(map(len, drawn(lines, width))) <= width


def test_the_steps_are_korean() -> None:
    lang.use("ko")
    lines = Lines(Clock())
    lines.step("publish")
    assert "발행" in drawn(lines)[0]
    lang.use("en")


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.04, 59.94, 60, 187.9, 3765)] == [
        "0.0 s", "59.9 s", "1:00", "3:07", "1:02:45"
    ]  # fmt: skip


def test_a_pipe_sees_nothing_of_it() -> None:
    with live_lines() as nobody:
        assert nobody is SILENT
    with live_lines(quiet=True) as nobody:
        assert nobody is SILENT
