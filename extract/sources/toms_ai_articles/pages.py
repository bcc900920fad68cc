"""Parser of the articles and of transcriptions of their charts.

An article yields the address of every picture in its text, so that the program archives the picture and notices a change.
It yields no figures. Some browsers show prices in these articles; a script fills them in, and the parser never reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gpuledger.errors import LayoutChanged
from gpuledger.extract.markup.links import joined
from gpuledger.extract.markup.tables import cell_text, clean
from gpuledger.extract.readers import transcriptions
from gpuledger.extract.readers.toms import article, next_page
from gpuledger.extract.readers.transcriptions import bundled
from gpuledger.extract.source import Page
from gpuledger.items import Chart, Link, Parsed

__all__ = ["bundled", "parse"]

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

_BODY = ("#article-body", "article", "main")
# Pictures of authors, shop widgets and teasers of other articles are not charts of this article.
_NOT_THE_ARTICLE = (
    "aside, nav, footer, header, form, [data-widget-type], [class*=hawk], [class*=author], [class*=related]"
)
# Lazily loaded images have a placeholder in src. The parser prefers the original address, then the widest picture of all
# sets.
_ORIGINAL = "data-original-mos"
_SETS = ("data-srcset", "srcset")
# An address may contain a comma but does not end with one. Its width or density stands behind it.
_CANDIDATE = re.compile(r"(?P<address>[^\s,]\S*[^\s,])(?:\s+(?P<size>\d+(?:\.\d+)?)[wxh])?(?=\s*(?:,|$))")
_PLACEHOLDER = re.compile(r"missing-image\.\w+$|^data:|/(?:spacer|blank|pixel)\.\w+$", re.IGNORECASE)
_GALLERY = re.compile(r"\bgalleryData\b")


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the Chart items and image links of an article, or the Score items of a transcription. An image yields nothing.

    Raises LayoutChanged if an article has no picture in its text, or if a transcription lacks a column.
    """
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    # In archives of earlier programs there are also plans, in TOML, of the charts that were to be read.
    if kind.startswith("image/") or kind == "application/toml":
        return
    if kind == "text/csv" or urlsplit(page.final_url).path.endswith(".csv"):
        try:
            charts, issues = transcriptions.read_csv(page.content, PurePosixPath(urlsplit(page.url).path).name)
        except transcriptions.TranscriptionError as error:
            raise LayoutChanged(page.url, str(error), "correct the transcription") from error
        yield from issues
        for chart in charts:
            yield from transcriptions.scores(chart)
        return
    tree = article(page)
    seen: set[str] = set()
    for address, caption in _pictures(tree):
        image_url = joined(page.final_url, address)
        if not image_url or image_url in seen:
            continue
        yield Chart(article_url=page.url, image_url=image_url, caption=caption, position=len(seen))
        yield Link(url=image_url, role="image")
        seen.add(image_url)
    if not seen:
        raise LayoutChanged(page.url, "no picture in the text of the article")
    yield from next_page(tree, page.final_url)


def _pictures(tree: BeautifulSoup) -> Iterator[tuple[str, str]]:
    """Yield address and caption of every picture in the article's text, then of the galleries that a script would build."""
    body = next((part for selector in _BODY if (part := tree.select_one(selector)) is not None), None)
    if body is not None:
        outside = {id(element) for element in body.select(_NOT_THE_ARTICLE)}
        for image in body.find_all("img"):
            if any(id(parent) in outside for parent in image.parents):
                continue
            if address := _address(image):
                yield address, _caption(image)
    for script in tree.find_all("script"):
        if _GALLERY.search(script.string or ""):
            yield from _gallery(script.string or "")


def _address(image: Tag) -> str | None:
    picture = image.find_parent("picture")
    sources = picture.find_all("source") if picture is not None else []
    if original := _without_placeholder(str(image.get(_ORIGINAL) or "")):
        return original
    # The width, or density, and the address of each picture of a `srcset`: `a.png 320w,b.png 1200w`.
    offered = [
        (float(candidate["size"] or 1), candidate["address"])
        for element in (image, *sources)
        for attribute in _SETS
        for candidate in _CANDIDATE.finditer(str(element.get(attribute) or ""))
        if _without_placeholder(candidate["address"])
    ]
    if offered:
        # Of equally wide pictures take the first, as browsers do.
        return max(offered, key=lambda candidate: candidate[0])[1]
    return next(
        filter(None, (_without_placeholder(str(image.get(attribute) or "")) for attribute in ("data-src", "src"))), None
    )


def _without_placeholder(address: str) -> str:
    """Return the address without blanks; empty if it is the address of a placeholder."""
    address = address.strip()
    return "" if _PLACEHOLDER.search(address) else address


def _caption(image: Tag) -> str:
    figure = image.find_parent("figure")
    caption = figure.find("figcaption") if figure is not None else None
    return clean(str(image.get("alt") or "")) or (cell_text(caption) if caption is not None else "")


def _gallery(script: str) -> Iterator[tuple[str, str]]:
    """Yield address and caption of the pictures of `var data = {"galleryData": [{"image": {"src": …, "name": …}}]}`."""
    for start in (brace.start() for brace in re.finditer(r"\{", script)):
        try:
            data, _ = json.JSONDecoder().raw_decode(script, start)
        except (ValueError, RecursionError):
            continue
        rows = data.get("galleryData") if isinstance(data, dict) else None
        for row in rows if isinstance(rows, list) else ():
            image = row.get("image") if isinstance(row, dict) else None
            if isinstance(image, dict) and isinstance(image.get("src"), str):
                captions = (image.get(key) for key in ("alt", "caption", "title", "name"))
                yield image["src"], next((clean(text) for text in captions if isinstance(text, str) and text), "")
        if rows is not None:
            return
