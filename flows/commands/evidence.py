"""`gpuledger evidence`: the archived page behind a figure."""

from __future__ import annotations

import sys

import click

from gpuledger.flows.doors.asking.evidence import figures_of, page_of
from gpuledger.flows.doors.asking.options import data_dir_option, read_from
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("hash_", metavar="HASH")
@click.option("--print", "whole", is_flag=True, help="Write the page itself to standard output, byte for byte.")
@data_dir_option
def command(hash_: str, whole: bool, data_dir: str | None) -> None:
    """Where a figure comes from: the page of HASH (its first 8 letters are enough), when it was fetched, what was read
    from it, and where in it that stands.
    """
    data = read_from(data_dir)
    page = page_of(data, hash_)
    if whole:
        sys.stdout.buffer.write(page.content)
        return
    click.echo(f"sha256   {page.sha256}")
    if page.origin is not None:
        click.echo(f"{gettext('page'):<8} {page.origin.url}")
        click.echo(f"{gettext('source'):<8} {page.origin.source}")
        click.echo(f"{gettext('fetched'):<8} {page.origin.fetched_at:%Y-%m-%d %H:%M:%S} UTC, HTTP {page.origin.status}")
    click.echo(f"{gettext('size'):<8} {len(page.content):,} bytes")
    figures = figures_of(data, page)
    for figure in figures:
        value = figure["value"] or gettext("no price")
        click.echo(
            f"\n{figure['name']}{figure['more']}: {value} ({gettext('since')} {figure['since']:%Y-%m-%d %H:%M} UTC)"
        )
        click.echo(f"  {figure['place']}")
    if not figures:
        click.echo(gettext("no figure of the published file rests on this page"))
