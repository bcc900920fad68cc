"""`gpuledger evidence`: the archived page behind a figure."""

from __future__ import annotations

import sys

import click

from gpuledger.flows.doors.asking.evidence import place_in, whole_hash
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
    from gpuledger.extract.archive.snapshots import Archive
    from gpuledger.transform.answers.trust.evidence import figures
    from gpuledger.warehouse.errors import NoWarehouse

    data = read_from(data_dir)
    archive = Archive.at(data.snapshots, data.store)
    sha256 = whole_hash(archive, hash_)
    content = archive.content_of(sha256)
    if whole:
        sys.stdout.buffer.write(content)
        return
    origin = archive.origin(sha256)
    click.echo(f"sha256   {sha256}")
    if origin is not None:
        click.echo(f"{gettext('page'):<8} {origin.url}")
        click.echo(f"{gettext('source'):<8} {origin.source}")
        click.echo(f"{gettext('fetched'):<8} {origin.fetched_at:%Y-%m-%d %H:%M:%S} UTC, HTTP {origin.status}")
    click.echo(f"{gettext('size'):<8} {len(content):,} bytes")
    try:
        columns, rows = figures(data, sha256)
    except NoWarehouse:
        return
    text = content.decode("utf-8", errors="replace")
    is_picture = origin is not None and origin.headers.get("content-type", "").startswith("image/")
    for row in rows:
        figure = dict(zip(columns, row, strict=True))
        value = figure["value"] or gettext("no price")
        click.echo(
            f"\n{figure['name']}{figure['more']}: {value} ({gettext('since')} {figure['since']:%Y-%m-%d %H:%M} UTC)"
        )
        place = gettext("printed as {text!r} in the picture") if is_picture else place_in(text, figure)
        click.echo(f"  {place.format(text=figure['printed']) if is_picture else place}")
    if not rows:
        click.echo(gettext("no figure of the published file rests on this page"))
