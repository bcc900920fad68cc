"""Tells a page from a wall: consent, captcha, challenge, refusal or soft 404. A wall must never be read as 'no rows'.

`block_signals.toml` lists the signs. Ordinary shop pages contain captcha scripts, cookie banners and the word 'robot', so
words in the text count only on a page that shows little else.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal
from urllib.parse import urlsplit

from gpuledger.errors import Blocked, EmptyBody
from gpuledger.extract.markup import charset

WallKind = Literal["consent", "captcha", "challenge", "blocked", "soft_404"]
Place = Literal["header", "url", "title", "heading", "mark", "text"]

#: A wall is small and a shop's page is not. Above this many characters of source only titles and headings are searched.
_SMALL_PAGE = 150_000
#: A wall says little. A page with more words of visible text than this is content.
_FEW_WORDS = 500
_SHORT_TEXT = 10_000
#: The same limit if the only sign is a cookie banner, which every page has in some countries.
_FEWER_WORDS = 250
#: The title is searched for in this many characters at the start of the source.
_HEAD = 100_000

# A search takes time in proportion to the length of any page: no pattern searches for a far end from many starts.
_TITLE = re.compile(r"<title[^<>]*>", re.IGNORECASE)
_HEADING = re.compile(r"<h1[^<>]*>", re.IGNORECASE)
_PARTS = re.compile(r"\s+[-–—·•:]+\s+|\s*[|»›]\s*|:\s+")
_INTERJECTION = re.compile(
    r"^((oops|whoops|ooops|uh[ -]?oh|sorry|hoppla|ups|(we're|we are) sorry|죄송합니다)[,.!…]*\s*)+", re.IGNORECASE
)
_CLOSING = re.compile(r"</(?:title|h1)", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_UNSEEN = re.compile(r"<(script|style|template|svg)\b|<!--", re.IGNORECASE)
_MARKUP = re.compile(
    r"\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<(!doctype html|html|head|body|title|meta|script|div|h1|p|form)\b",
    re.IGNORECASE | re.DOTALL,
)
_FRONT_PAGE = re.compile(r"/?([a-z]{2}([-_][a-z]{2})?/?)?((index|default|home)(\.\w+)?/?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of a wall. `note` says in a few words what the sign shows."""

    kind: WallKind
    note: str
    pattern: re.Pattern[str]


def detect(page: bytes | str, url: str, headers: Mapping[str, str] | None = None, status: int = 200) -> None:
    """Return if `page` may be read. Raises Blocked if it is a wall, and EmptyBody if it is empty.

    `url` is the final address, and `headers` have lower-case names. Only HTML is searched for words and marks. An HTML page
    is also searched if its headers say that it is JSON, XML, CSV or an image.
    """
    if not page.strip():
        raise EmptyBody(url, f"status {status} with an empty body")
    wall = find(page, url, headers or {}, status)
    if wall is not None:
        raise Blocked(url, f"{wall.note} instead of the page (status {status})")


def detect_redirect(url: str, final_url: str) -> None:
    """Raise Blocked if a page below the front page redirects to the front page. Such a page is gone (a soft 404)."""
    requested, reached = urlsplit(url), urlsplit(final_url)
    was_front_page = _FRONT_PAGE.fullmatch(requested.path) and not requested.query
    if not was_front_page and _FRONT_PAGE.fullmatch(reached.path) and not reached.query:
        raise Blocked(url, "redirected to the front page: the page is gone", "correct the address in the source")


def find(page: bytes | str, url: str, headers: Mapping[str, str], status: int = 200) -> Signal | None:
    """The first sign of a wall in a page, or None. The arguments, and the parts that are searched, are as in `detect`."""
    for name, value in headers.items():
        if signal := _search("header", f"{name.lower()}: {value}"):
            return signal
    if signal := _search("url", url):
        return signal
    return _find_in_source(page, headers) if _is_html(page, headers) else None


def visible_text(source: str) -> str:
    """Roughly the words that a reader sees of an HTML source: without scripts, styles, comments and tags."""
    seen, start = [], 0
    while opening := _UNSEEN.search(source, start):
        seen.append(source[start : opening.start()])
        closing = re.compile(f"</{opening[1]}" if opening[1] else "-->", re.IGNORECASE).search(source, opening.end())
        if closing is None:  # an element that is not closed swallows the rest of the page, as in a browser
            break
        start = closing.end()
    else:
        seen.append(source[start:])
    return _plain(" ".join(seen))


def _find_in_source(page: bytes | str, headers: Mapping[str, str]) -> Signal | None:
    source = page if isinstance(page, str) else charset.decode(page, headers.get("content-type"))
    if signal := _find_title(source):
        return signal
    if len(source) > _SMALL_PAGE:
        return None
    text = visible_text(source)
    word_count = text.count(" ") + 1
    if word_count > _FEW_WORDS or len(text) > _SHORT_TEXT or _price().search(text) or _content_marks().search(source):
        return None
    signal = _search("mark", source) or _search("text", text)
    if signal and signal.kind == "consent" and word_count > _FEWER_WORDS:
        return None
    return signal


def _find_title(source: str) -> Signal | None:
    if title := _element(_TITLE, source[:_HEAD]):
        for part in dict.fromkeys((title, *_PARTS.split(title))):
            signal = _whole("title", part)
            # A product may be called 'Forbidden' or 'Consent'.
            doubtful = signal is not None and signal.kind in ("blocked", "consent")
            if signal and not (doubtful and _content_marks().search(source)):
                return signal
    return _whole("heading", _element(_HEADING, source))


def _element(opening: re.Pattern[str], source: str) -> str:
    """The beginning of the text of the first such element, long enough to compare it with the patterns."""
    match = opening.search(source)
    return _plain(_CLOSING.split(source[match.end() : match.end() + 1000], maxsplit=1)[0]) if match else ""


def _plain(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split()).replace("’", "'")


def _is_html(page: bytes | str, headers: Mapping[str, str]) -> bool:
    media_type = headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if media_type in ("text/html", "application/xhtml+xml"):
        return True
    start = page[:2000].decode("latin-1") if isinstance(page, bytes) else page[:2000]
    return bool(_MARKUP.match(start.removeprefix("\ufeff").removeprefix("ï»¿")))


def _search(place: Place, text: str) -> Signal | None:
    return next((signal for signal in _signals(place) if signal.pattern.search(text)), None)


def _whole(place: Place, text: str) -> Signal | None:
    sentence = _INTERJECTION.sub("", text).strip().rstrip(" .…!?。")
    return next((signal for signal in _signals(place) if signal.pattern.fullmatch(sentence)), None)


@cache
def _signals(place: Place) -> tuple[Signal, ...]:
    """The signs that count in one place, in the order of the file. Compiled on first use, as most pages need few places."""
    listed = "title" if place == "heading" else place
    return tuple(
        Signal(entry["kind"], entry["note"], _compile(entry["patterns"]))
        for entry in _file()["signal"]
        if entry["place"] == listed and (place != "heading" or entry["kind"] == "soft_404")
    )


@cache
def _content_marks() -> re.Pattern[str]:
    """Matches in the HTML source of pages that show goods, figures or an article."""
    return _compile(_file()["content"]["marks"])


@cache
def _price() -> re.Pattern[str]:
    """Matches a price among visible words."""
    return _compile([_file()["content"]["price"]])


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(
        resources.files("gpuledger.extract.fetch").joinpath("block_signals.toml").read_text(encoding="utf-8")
    )


def _compile(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.DOTALL)
