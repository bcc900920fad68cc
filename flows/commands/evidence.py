"""`gpuledger evidence`: the archived page behind a figure."""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.asking.options import data_dir_option, read_from
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.extract.archive.snapshot import Snapshot
    from gpuledger.extract.archive.snapshots import Archive

#: How many letters of the page are shown on each side of a figure.
_AROUND = 40
#: The most places of a figure that are looked at. In a page with more places the others are ignored.
_MOST_PLACES = 10_000


@click.command()
@click.argument("hash_", metavar="HASH")
@click.option("--print", "whole", is_flag=True, help="Write the page itself to standard output, byte for byte.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser, as a file without scripts' network.")
@data_dir_option
def command(hash_: str, whole: bool, opens: bool, data_dir: str | None) -> None:
    """Where a figure comes from: the page of HASH (its first 8 letters are enough), when it was fetched, what was read
    from it, and where in it that stands.
    """
    from gpuledger.extract import objects
    from gpuledger.extract.archive.snapshots import Archive
    from gpuledger.transform.answers.trust.evidence import figures
    from gpuledger.warehouse.errors import NoWarehouse

    data = read_from(data_dir)
    archive = Archive(data.snapshots, objects.of(data.store))
    sha256 = whole_hash(archive, hash_)
    content = archive.content_of(sha256)
    if whole:
        sys.stdout.buffer.write(content)
        return
    origin = archive.origin(sha256)
    for line in _page_lines(sha256, origin, len(content)):
        click.echo(line)
    if opens:
        _open(archive, sha256, content, origin)
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
        in_picture = is_picture or figure["figure"] == "chart"
        place = gettext("printed as {text!r} in the picture") if in_picture else place_in(text, figure)
        click.echo(f"  {place.format(text=figure['printed']) if in_picture else place}")
    if not rows:
        click.echo(gettext("no figure of the published file rests on this page"))


def whole_hash(archive: Archive, start: str) -> str:
    """The hash of the one archived page whose hash begins with `start`. A usage error if no page fits, or several do."""
    start = start.strip().lower()
    if len(start) < 8 or not all(letter in "0123456789abcdef" for letter in start):
        raise click.UsageError(gettext("a page is named by at least 8 letters of its SHA-256, 0-9 and a-f"))
    matches = sorted({sha256 for sha256 in archive.pages() if sha256.startswith(start)})
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise click.UsageError("\n  ".join([gettext("several pages begin so:"), *matches[:10]]))
    raise click.UsageError(gettext("the archive has no page {hash}; vacuum may have removed it").format(hash=start))


def _page_lines(sha256: str, origin: Snapshot | None, size: int) -> Iterator[str]:
    yield f"sha256   {sha256}"
    if origin is not None:
        yield f"{gettext('page'):<8} {origin.url}"
        yield f"{gettext('source'):<8} {origin.source}"
        yield f"{gettext('fetched'):<8} {origin.fetched_at:%Y-%m-%d %H:%M:%S} UTC, HTTP {origin.status}"
    yield f"{gettext('size'):<8} {size:,} bytes"


def place_in(text: str, figure: dict[str, Any]) -> str:
    """The place of the figure in the page: line, column, and the text around it."""
    printed = (figure["printed"] or "").strip()
    if not printed:
        return gettext("the page prints no text for it")
    # Shops split one price over several elements ("<b>749</b><sup>.99</sup>"), so tags may stand between its letters. The
    # length of a tag is limited and it has no other tag in it, so that a page full of angle brackets is not searched from
    # each of them.
    pattern = r"(?:<[^<>]{0,300}>|&nbsp;|\s){0,100}".join(
        re.escape(letter) for letter in printed if not letter.isspace()
    )
    name = figure["name"]
    name_at = max(map(text.find, (name, html.escape(name), html.escape(name, quote=False))))
    places = [match.span() for match in islice(re.finditer(pattern, text), _MOST_PLACES)]
    # The same amount may also stand beside another card. Only the place behind the name, or the only place, is certain.
    behind = [place for place in places if name_at >= 0 and place[0] >= name_at]
    if not behind and len(places) != 1:
        return gettext(
            "printed as {text!r}; it stands {count} times in the page, none of them certainly this one"
        ).format(text=printed, count=len(places))
    start, end = behind[0] if behind else places[0]
    around = " ".join(text[max(start - _AROUND, 0) : end + _AROUND].split())
    return gettext("line {line}, column {column}: {around}").format(
        line=text.count("\n", 0, start) + 1, column=start - text.rfind("\n", 0, start), around=around
    )


def _open(archive: Archive, sha256: str, content: bytes, origin: Snapshot | None) -> None:
    import tempfile
    from pathlib import Path

    kind = (origin.headers.get("content-type", "") if origin else "").partition(";")[0]
    suffix = {
        "text/html": ".html",
        "application/json": ".json",
        "image/png": ".png",
        "image/jpeg": ".jpg",
        "image/webp": ".webp",
    }.get(kind, ".txt")
    path = Path(tempfile.mkdtemp(prefix="gpuledger-evidence-")) / f"{sha256[:12]}{suffix}"
    # A CSV table is opened as text too, because a spreadsheet would run a cell that begins with "=".
    path.write_bytes(_framed(content, kind).encode() if suffix == ".html" else content)
    click.launch(str(path))


#: The page that frames an archived page. Its policy also applies to the page inside: nothing is fetched and nothing runs. An
#: empty `sandbox` attribute allows no scripts, no forms, no windows and no way out of the frame.
_FRAME = """<!DOCTYPE html><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<style>html, body, iframe {{ display: block; margin: 0; border: 0; width: 100%; height: 100% }}</style>
<iframe sandbox srcdoc="{page}"></iframe>
"""


def _framed(content: bytes, kind: str) -> str:
    """A page of our own that shows the archived page in a frame in which it can do nothing."""
    from gpuledger.extract.markup import charset

    return _FRAME.format(title=gettext("page"), page=html.escape(charset.decode(content, kind)))
