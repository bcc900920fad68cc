"""`gpuledger parse`: print the items of one saved page, as the nightly run would read them."""

from __future__ import annotations

import mimetypes
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from gpuledger import local_files
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.say import as_wrong_use


@click.command()
@click.argument("source")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--url",
    default=None,
    help="Address that the page was saved from; it decides the country, the language and what links mean.",
)
@click.option("--fetched-at", default=None, metavar="T", help="When it was saved, ISO 8601.")
def command(source: str, file: Path, url: str | None, fetched_at: str | None) -> int:
    """Read one saved page (.gz too) as SOURCE would and print its items as JSON Lines; issues go to stderr.

    SOURCE is a name from `gpuledger sources`, or `product` for any shop's product page. The page has the time and the
    memory that it has in a night (page_timeout_s and page_memory_mb in the settings).
    """
    from gpuledger.extract import source as sources
    from gpuledger.extract.fetch.fetched import Fetched
    from gpuledger.extract.pages import as_page
    from gpuledger.extract.processes.parse_pool import ParsePool
    from gpuledger.flows.doors.showing import terminal
    from gpuledger.flows.night.start import time_of
    from gpuledger.flows.settings import settings
    from gpuledger.items import Aside, Issue, to_json

    name = "generic_shop" if source == "product" else source
    if name not in sources.names():
        raise click.UsageError(wrong_use.no_source([source], ["product", *sources.names()]))
    content = local_files.read_page(file)
    inner = file.name.removesuffix(".gz")
    with as_wrong_use(ValueError):
        time = time_of("--fetched-at", fetched_at) if fetched_at else datetime.now(UTC)
    kind = mimetypes.guess_type(inner)[0]
    address = url or f"file:{file.name}"
    headers = {"content-type": kind} if kind else {}
    page = as_page(Fetched(url=address, final_url=address, status=200, headers=headers, content=content), time)
    # Imported here first: a part that is not installed is named, where the parsing process could only fail.
    sources.load_parser(name)
    with ParsePool(settings.load({}).page_limits()) as parser:
        items = parser.parse(sources.get(name), page)
    for item in items:
        line = terminal.json_text(to_json(item))
        if isinstance(item, Issue):
            click.echo(line, err=True)
        elif not isinstance(item, Aside):
            sys.stdout.write(line + "\n")
    return 0
