"""A refresh of the sample in this process: for tests that change the site, or the clock, or count on speed."""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import duckdb

from gpuledger.extract import sources
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.processes.parse_pool import ParsePool
from gpuledger.extract.sample import server
from gpuledger.flows.night import store, take_in
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.gather import Reader, read_plain
from gpuledger.flows.night.refresh import run
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings import settings
from gpuledger.warehouse.paths import DataDir

SITE = Path(sources.__path__[0])


def context(data: Path, night: int, *, only: Sequence[str] | None = None) -> Context:
    now = utc_now()
    return Context(
        settings=settings.load({"data_dir": str(data)}, environment={}, file=Path("/nowhere.toml")), data=DataDir(data),
        run_id=new_run_id(), as_of=server.clock(night), started_at=now, engine="plain", sample_night=night,
        only=tuple(only) if only else None,
    )  # fmt: skip


def refresh(data: Path, night: int, *, only: Sequence[str] | None = None) -> Summary:
    """`gpuledger refresh --sample --engine plain --night <night>`, without the command around it."""
    return run(context(data, night, only=only), read_with_shared_parsers)


def read_with_shared_parsers(reader: Reader, readings: list[Reading]) -> list[Collected]:
    """The plain engine, with processes that parse for all nights of this process: starting them is a fifth of a night."""
    return read_plain(replace(reader, parser=_parser(os.getpid())), readings)


@cache
def _parser(_process: int) -> ParsePool:
    """One for each process, as a fork must not speak with those of its parent."""
    pool = ParsePool(settings.load({}, environment={}, file=Path("/nowhere.toml")).page_limits())
    atexit.register(pool.__exit__, None, None, None)
    return pool


def copy_of_the_site(to: Path) -> Path:
    """The sample's pages, to be changed; give the folder to `monkeypatch.setattr(server, "_SITE", …)`."""
    for pages in SITE.glob("*/sample"):
        shutil.copytree(pages, to / pages.relative_to(SITE))
    return to


def take_in_one(con: duckdb.DuckDBPyConnection, night: Context, collected: Collected) -> take_in.TakenIn:
    """Take in and record the batch of one source, as a run does with the batches of all, and put the run on record.

    Without the run, no later batch would be known for a repetition of this one.
    """
    taken_in = store.take_in_one(con, night, collected, take_in.before(con))
    take_in.record(con, night, [taken_in])
    store.write_run(con, night, [taken_in.outcome])
    return taken_in
