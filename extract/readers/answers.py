"""What the parsers of JSON interfaces share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin, urlsplit

from gpuledger.errors import LayoutChanged
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Link


@contextmanager
def understood(page: Page, otherwise: str) -> Iterator[None]:
    """Turns what fails when an answer is not built as expected into LayoutChanged, which says `otherwise` and the error."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LayoutChanged(page.url, f"{otherwise}: {type(error).__name__} {error}") from error


def left_out(counts: Counter[str], what: str, page: Page) -> Iterator[Issue]:
    """Yield an issue that counts the entries that were left out, by reason; nothing if there are none."""
    if counts:
        counted = ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()))
        message = f"{what} left out: {counted}"
        yield Issue(code=f"{what}_left_out", message=message, severity="info", url=page.url)


def next_page(page: Page, following: object) -> Iterator[Link]:
    """Yield the link to the next page that an answer names, if it names one and that is on the same host."""
    target = urljoin(page.final_url, str(following))
    if following and urlsplit(target).hostname == urlsplit(page.final_url).hostname:
        yield Link(url=target, role="next_page")
