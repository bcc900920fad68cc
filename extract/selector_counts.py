"""Counts how often a parser looks for a selector on a page, and how often it matches.

A changed layout shows first in these counts. This module imports no library, so that commands which only query a warehouse
do not need the libraries that read pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gpuledger.extract.items import Looked

#: For each selector of the current page, how often it was looked for and how often it matched. None if nobody counts.
_looks: ContextVar[dict[str, tuple[int, int]] | None] = ContextVar("looks", default=None)


def note(selector: str, *, found: bool) -> None:
    """Count one search for a selector."""
    looks = _looks.get()
    if looks is not None:
        before = looks.get(selector, (0, 0))
        looks[selector] = before[0] + 1, before[1] + found


@contextmanager
def counted() -> Iterator[Callable[[], list[Looked]]]:
    """Counts the searches during the block. Gives a function that returns the counts, one per selector."""
    looks: dict[str, tuple[int, int]] = {}
    token = _looks.set(looks)
    try:
        yield lambda: [Looked(selector=css, asked=asked, found=found) for css, (asked, found) in looks.items()]
    finally:
        _looks.reset(token)
