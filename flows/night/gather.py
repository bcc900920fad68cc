"""The reading half of a run: which sources a run reads, from which addresses and files, and how it reads each alone."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from gpuledger.errors import OutOfTime, Unforeseen, described
from gpuledger.expectations import library
from gpuledger.extract import source as sources
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Parser, Reading, collect
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.fetch.keyed import Keyed
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.hub.named import own_machines
from gpuledger.extract.pages import Fetching, LocalFile
from gpuledger.extract.processes.parse_pool import ParsePool
from gpuledger.extract.sample import server
from gpuledger.extract.source import Source
from gpuledger.flows.decisions import most_used
from gpuledger.flows.night import charts, left_out, run_log
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.left_out import LeftOut
from gpuledger.flows.settings.settings import Settings, SettingsError
from gpuledger.flows.words import wrong_use

_log = logging.getLogger("gpuledger")


@dataclass(frozen=True, slots=True)
class Reader:
    """The tools that all sources of a run share."""

    context: Context
    client: Client
    archive: Archive
    cache: ParsedCache
    parser: Parser

    def read_source(self, reading: Reading) -> Collected:
        """Read one source. The result holds its failure, which is never raised.

        A source that takes longer than the setting source_timeout_s fetches no further page: what it has so far counts.
        """
        limit_s = self.context.settings.source_timeout_s
        ends = time.monotonic() + limit_s

        def in_time(url: str) -> None:
            if time.monotonic() > ends:
                raise OutOfTime(url, f"the source took longer than {limit_s:g} s")

        pages = replace(self.fetching(reading), in_time=in_time)
        name, progress = reading.source.name, self.context.progress

        def on_page(url: str) -> None:
            progress.page(reading.name, url)

        try:
            return charts.watched(collect(reading, pages, self.cache, on_page, self.parser), self.archive)
        except Exception as error:  # noqa: BLE001  one source's fault stops no other
            failed = Unforeseen(name, described(error))
            return Collected(name, shop=reading.shop, failure=failed, is_complete=False)
        finally:
            progress.source_done()

    def fetching(self, reading: Reading) -> Fetching:
        """How the pages of a source are fetched: with its keys, or without any."""
        source, settings = reading.source, self.context.settings
        keyed = None
        if source.access is not None:
            keys = {name: getattr(settings, name) for name in source.access.credentials}
            keyed = Keyed(self.client, source.access, keys)
        run, site = self.context, site_of(reading.starts, source.hosts)
        return Fetching(self.client, self.archive, run.as_of, run.run_id, site, keyed)


#: An engine: it reads the sources side by side.
ReadAll = Callable[[Reader, list[Reading]], list[Collected]]


def read(context: Context, readings: list[Reading], read_all: ReadAll) -> list[Collected]:
    """Fetch, archive and parse what the sources of a run give; `read_all` is the engine."""
    context.progress.step("read", len(readings))
    if not context.data.base.exists():
        # A first night checks every batch, so the library for checks is imported while pages are fetched and parsed.
        library.begin()
    with reader(context) as tools:
        return most_used.keep(context.data, read_all(tools, readings))


def read_plain(reader: Reader, readings: list[Reading]) -> list[Collected]:
    """The plain engine: a thread for each source, or for each shop of a source. Keeps the order of `readings`."""
    with ThreadPoolExecutor(reader.context.settings.parallel_sources) as threads:
        return list(threads.map(reader.read_source, readings))


#: What a night is run for: items of shops, clouds and exchange rates.
OF_PRICES = frozenset(("offer", "index_price", "cloud_offer", "token_price", "fx_rate"))


def is_any_read(context: Context, collected: Sequence[Collected]) -> bool:
    """Whether what was read is a reason to publish.

    Where shops, clouds or rates were asked, one of them must have answered: what comes with the program, and the figures of
    a benchmark, are no sign that the night was good. An empty batch is a reason only if a person took the last file out of
    every folder that was asked for.
    """
    asked = [
        batch
        for batch in collected
        if (batch.starts or batch.failure) and not OF_PRICES.isdisjoint(sources.get(batch.source).kinds)
    ]
    if asked:
        return any(batch.pages for batch in asked if batch.failure is None)
    is_emptied = context.data.base.exists() and bool(collected) and all(batch.failure is None for batch in collected)
    return is_emptied or any(batch.pages for batch in collected if batch.failure is None)


def readings(context: Context, out: Collection[LeftOut] | None = None) -> list[Reading]:
    """The sources of this run without those in `out`, by default those that `left_out` names.

    Raises SettingsError, with the known names, for a source that does not exist.
    """
    chosen_names = context.only or context.settings.sources or None
    if unknown := sorted({*(chosen_names or ())} - set(sources.names())):
        raise SettingsError(wrong_use.no_source(unknown, sources.names()))
    without = {excluded.source for excluded in (left_out.of_night(context) if out is None else out)}
    chosen = [sources.get(name) for name in chosen_names] if chosen_names else sources.discover()
    chosen = [source for source in chosen if source.name not in without]
    all_readings = [_reading(source, context) for source in chosen]
    # An empty folder is read too: the rows of a file that was removed have ended. What the program itself brings stays.
    return [
        reading
        for reading in all_readings
        if reading.starts
        or reading.files
        or (not reading.source.start and any((context.data.root / folder).is_dir() for folder in reading.source.drops))
    ]


def nothing_to_read(name: str, context: Context) -> str:
    """Why the source `name` has no page and no file in this run, and what would give it one."""
    if context.sample_night is not None:
        return "it has no page on the sample site"
    if missing := keys_missing(sources.get(name), context.settings):
        return f"no key: set {', '.join(missing)}"
    return f"no page to read: {sources.get(name).way_in.format(data=context.data.root)}"


def _reading(source: Source, context: Context) -> Reading:
    """What the source reads in this run: its addresses, and files."""
    dropped = [
        LocalFile(path, kind)
        for folder, kinds in source.drops.items()
        for path in sorted((context.data.root / folder).glob("*"))
        if (kind := kinds.get(path.suffix.lower()))
    ]
    if context.sample_night is not None:
        return Reading(source, server.start_urls(source), dropped)
    if missing := keys_missing(source, context.settings):
        _log.info("%s is not read: %s is not set", source.name, ", ".join(missing))
        return Reading(source, ())
    return Reading(source, source.addresses(context.settings), [*bundled(source), *dropped])


def bundled(source: Source) -> list[LocalFile]:
    """The files of the program that the source reads."""
    return [LocalFile(path, "text/csv", follows_links=True) for path in (source.bundled or list)()]


def keys_missing(source: Source, settings: Settings) -> list[str]:
    """The environment variables that a source's interface needs and that are not set."""
    names = source.access.credentials if source.access else ()
    return [f"GPULEDGER_{name.upper()}" for name in names if not getattr(settings, name)]


def clean_up(context: Context) -> None:
    """Delete what a killed run left half written."""
    last = run_log.entries(context.data)[-1:]
    if last and not last[0].status.startswith("published"):
        # Only after a kill or a full disk: an archive of many years has very many files to look through.
        archive_files.remove_leftovers(context.data.snapshots, younger_too=True)
        archive_files.remove_leftovers(context.data.exports, younger_too=True)


@contextmanager
def reader(context: Context) -> Iterator[Reader]:
    """The tools that the sources share. The sample site runs meanwhile if this run is on the sample."""
    archive = Archive.at(context.data.snapshots, context.data.store)
    cache = ParsedCache(context.data.snapshots / "parsed")
    settings = context.settings
    http = HttpSettings(
        contact=settings.contact or None,
        delay_s=settings.delay_s,
        deadline_s=settings.fetch_deadline_s,
        max_body_bytes=int(settings.max_body_mb * 1_000_000),
        connect_to=own_machines(*settings.hubs),
    )
    with ExitStack() as stack:
        if context.sample_night is not None:
            site = stack.enter_context(server.SampleSite(context.sample_night))
            # No pause between requests: the site is ours, and it is this machine.
            http = replace(http, delay_s=0.0, connect_to=site.connect_to)
        client = stack.enter_context(Client(http))
        parser = stack.enter_context(ParsePool(settings.page_limits()))
        yield Reader(context, client, archive, cache, parser)
