"""What a site's robots.txt forbids is left out of the nights that nobody chose the sources of, and asked again later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpuledger.extract import source as sources
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.sample.server import SampleSite, start_urls
from gpuledger.flows.cli import cli
from gpuledger.flows.commands.sources import _robots
from gpuledger.flows.decisions.terms import TERMS, Terms
from gpuledger.flows.night import gather, left_out
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.left_out import AGAIN_DAYS
from gpuledger.flows.night.refresh import run
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling.run_shown import show_summary
from gpuledger.records import BadRecord
from tests.extract.faulty_server import FaultyServer
from tests.flows import inprocess
from tests.nights import Night

FORBIDDEN, UNREADABLE, OPEN = "newegg", "microcenter", "ecb_fx"


@pytest.fixture
def sites() -> Iterator[tuple[FaultyServer, FaultyServer]]:
    """Two shops: the rules of one forbid everything, those of the other cannot be read tonight."""
    with FaultyServer() as forbidding, FaultyServer() as broken:
        forbidding.routes["/robots.txt"] = lambda asked: asked.reply(200, b"User-agent: *\nDisallow: /\n")
        broken.routes["/robots.txt"] = lambda asked: asked.reply(503)
        yield forbidding, broken


def live(data: Path, days: int, only: tuple[str, ...] | None = None) -> Context:
    """A night on the live sources, so many days after the sample's first."""
    first = inprocess.context(data, 1, only=only)
    return replace(first, sample_night=None, as_of=first.as_of + timedelta(days=days))


def night(context: Context, forbidding: FaultyServer, broken: FaultyServer) -> Summary:
    """A night whose shops are those two, beside a source of the sample site; the other live sources are nobody's here."""

    def read(reader: Reader, readings: list[Reading]) -> list[Collected]:
        found = {reading.source.name: reading for reading in readings}
        with SampleSite(1) as sample:
            there = dict(sample.connect_to)
            mine = [Reading(found[OPEN].source, start_urls(found[OPEN].source))]
            for name, server in ((FORBIDDEN, forbidding), (UNREADABLE, broken)):
                if name in found:
                    starts = [start.replace("https://", "http://") for start in found[name].starts]
                    there |= {str(addresses.host_of(start)): ("127.0.0.1", server.port) for start in starts}
                    mine.append(Reading(found[name].source, starts))
            with Client(HttpSettings(delay_s=0.0, max_attempts=1, connect_to=there)) as client:
                return [replace(reader, client=client).read_source(reading) for reading in mine]

    return run(context, read)


def test_a_site_that_forbids_it_is_asked_once_and_left_out_for_a_month(
    nights: dict[int, Night],
    tmp_path: Path,
    sites: tuple[FaultyServer, FaultyServer],
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = nights[1].copy(tmp_path / "data")
    forbidding, _ = sites
    first = night(live(data, 1), *sites)
    assert {one.source: (one.status, str(one.reason).partition(":")[0]) for one in first.failed_sources} == {
        FORBIDDEN: ("failed", "RobotsDisallowed"), UNREADABLE: ("failed", "RobotsDisallowed"),
    }  # fmt: skip
    assert first.left_out == []
    asked = len(forbidding.paths(robots=True))
    assert asked == 1
    assert forbidding.paths() == []  # nothing but its rules

    second = night(live(data, 2), *sites)
    assert [one.source for one in second.left_out] == [FORBIDDEN]
    assert [one.source for one in second.failed_sources] == [UNREADABLE]  # what could not be read is asked each night
    assert len(forbidding.paths(robots=True)) == asked
    show_summary(second, inprocess.context(data, 1).data)
    words = f"{FORBIDDEN} left out: its robots.txt forbade it on 2023-11-17, and is asked again from 2023-12-17"
    assert f"{words}; `gpuledger refresh --only {FORBIDDEN}` asks now" in " ".join(capsys.readouterr().out.split())

    (shown,) = second.left_out
    assert _robots(sources.get(FORBIDDEN), None, shown, str) == "forbidden, left out until 2023-12-17"

    def reads(context: Context) -> bool:
        return FORBIDDEN in {reading.source.name for reading in gather.readings(context)}

    assert not reads(live(data, AGAIN_DAYS))
    assert reads(live(data, 1 + AGAIN_DAYS))
    assert reads(live(data, 3, only=(FORBIDDEN,)))
    chosen = live(data, 3)
    assert reads(replace(chosen, settings=replace(chosen.settings, sources=(FORBIDDEN, OPEN))))
    assert reads(inprocess.context(data, 2))  # the sample forbids nothing

    # Its rules allow it again: asked by name, it is read again on every night, whatever it then gives.
    forbidding.routes["/robots.txt"] = lambda asked: asked.reply(200, b"")
    night(live(data, 4, only=(FORBIDDEN, OPEN)), *sites)
    assert reads(live(data, 5))


def said(data: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["sources", *words, "--data-dir", str(data)])


def test_what_terms_forbid_is_left_out_until_a_person_names_it_or_takes_it_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def of(context: Context) -> list[str]:
        return [one.source for one in left_out.of_night(context)]

    data = tmp_path / "data"
    tonight = live(data, 1)
    address = "https://www.example.com/terms"
    recorded = said(data, "terms", FORBIDDEN, "forbidden", "--page", address, "--read", "2023-11-01")
    assert recorded.exit_code == 0, recorded.output
    assert TERMS.by_key(data)[FORBIDDEN] == Terms(FORBIDDEN, "forbidden", address, date(2023, 11, 1))
    assert of(tonight) == [FORBIDDEN]
    assert FORBIDDEN not in {reading.source.name for reading in gather.readings(tonight)}
    assert of(live(data, AGAIN_DAYS * 3)) == [FORBIDDEN]  # terms do not lapse
    assert of(live(data, 1, only=(FORBIDDEN,))) == []
    assert of(inprocess.context(data, 1)) == []  # the sample is ours
    show_summary(Summary("r", left_out=left_out.of_night(tonight), reason="x"), tonight.data)
    assert f"{FORBIDDEN} left out: its terms forbid it, as a person read on 2023-11-01" in capsys.readouterr().out
    listed = said(data, "--format", "json").output
    assert f"forbidden, 2023-11-01, {address}" in listed
    assert "unknown" in listed

    for wrong in (
        "[[terms]]\nsource = 'newegg'\nsays = 'no'",
        f"[[terms]]\nsource = 'newegg'\nsays = 'forbidden'\npage = '{address}'",
        f"[[terms]]\nsource = 'neweg'\nsays = 'allowed'\npage = '{address}'\nread = 2026-01-01",
    ):
        TERMS.file(data).write_text(wrong, "utf-8")
        with pytest.raises(BadRecord, match=r"terms\.toml, line 1.*correct this"):
            of(tonight)
    TERMS.file(data).write_text("", "utf-8")
    assert said(data, "terms", FORBIDDEN, "allowed", "--page", address).exit_code == 0
    assert of(tonight) == []
    assert said(data, "terms", FORBIDDEN, "unknown").exit_code == 0
    assert TERMS.all(data) == []
