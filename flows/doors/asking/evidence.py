"""The archived page that a person names by its hash, and where in it a figure stands."""

from __future__ import annotations

import html
import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpuledger.flows.words.lang import gettext
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.extract.archive.snapshots import Archive, Snapshot

#: How many letters of the page are shown on each side of a figure.
_AROUND = 40
#: The most places of a figure that are looked at. In a page with more places the others are ignored.
_MOST_PLACES = 10_000


class Page(NamedTuple):
    """An archived page and where it came from."""

    sha256: str
    content: bytes
    origin: Snapshot | None


def page_of(data: DataDir, start: str) -> Page:
    """The one archived page whose hash begins with `start`. A usage error if no page fits, or several do."""
    from gpuledger.extract.archive.snapshots import Archive

    archive = Archive.at(data.snapshots, data.store)
    sha256 = _whole_hash(archive, start)
    return Page(sha256, archive.content_of(sha256), archive.origin(sha256))


def figures_of(data: DataDir, page: Page) -> list[dict[str, Any]]:
    """What the published file has from a page, each figure with its `place` in it. Nothing before the first night."""
    from gpuledger.transform.answers.trust.evidence import figures

    found, content, origin = list[dict[str, Any]](), page.content, page.origin
    with suppress(NoWarehouse):
        columns, rows = figures(data, page.sha256)
        found = [dict(zip(columns, row, strict=True)) for row in rows]
    is_picture = origin is not None and origin.headers.get("content-type", "").startswith("image/")
    text = "" if is_picture else content.decode("utf-8", errors="replace")
    for figure in found:
        in_picture = gettext("printed as {text!r} in the picture").format(text=figure["printed"])
        figure["place"] = in_picture if is_picture else _cell_of(content, origin, figure) or place_in(text, figure)
    return found


def _whole_hash(archive: Archive, start: str) -> str:
    """The hash of the one archived page whose hash begins with `start`. A usage error if no page fits, or several do."""
    start = start.strip().lower()
    if len(start) < 8 or not all(letter in "0123456789abcdef" for letter in start):
        raise click.UsageError(gettext("a page is named by at least 8 letters of its SHA-256, 0-9 and a-f"))
    pages = set(archive.pages())
    matches = sorted(sha256 for sha256 in pages if sha256.startswith(start))
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise click.UsageError("\n  ".join([gettext("several pages begin so:"), *matches[:10]]))
    why = gettext("the archive has no page {hash}; vacuum may have removed it") if pages else gettext(
        "the archive has no page yet: nothing was read here"
    )  # fmt: skip
    raise click.UsageError(why.format(hash=start))


def _cell_of(content: bytes, origin: Snapshot | None, figure: dict[str, Any]) -> str | None:
    """The cell of a vendor's quote in which the price stands; None for another page."""
    if origin is None or origin.source != "quotes":
        return None
    from gpuledger.extract.sources.quotes.pages import cell_of

    found = cell_of(content, origin.url, figure["name"], figure["printed"] or "")
    if found is None:
        return None
    sheet, cell, row = found
    return gettext("cell {cell}: {row}").format(cell=f"{sheet}!{cell}" if sheet else cell, row=row)


def place_in(text: str, figure: dict[str, Any]) -> str:
    """The place of the figure in the page: line, column, and the text around it."""
    printed = (figure["printed"] or "").strip()
    if not printed:
        return gettext("the page prints no text for it")
    # Shops split one price over several elements ("<b>749</b><sup>.99</sup>"), so tags may stand between its letters, or in
    # the place of its point ("749<sup>99</sup>"). The length of a tag is limited and it has no other tag in it, so that a
    # page full of angle brackets is not searched from each of them.
    letters = [re.escape(letter) for letter in printed if not letter.isspace()]
    if re.search(r"[.,]\d\d\D*$", printed):
        point = max(letters.index(letter) for letter in (r"\.", ",") if letter in letters)
        letters[point] += "|(?=<)"
    pattern = r"(?:<[^<>]{0,300}>|&nbsp;|\s){0,100}".join(f"(?:{letter})" for letter in letters)
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
