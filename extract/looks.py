"""How often a parser looks for something on a page, and how often it is there: what a changed layout shows in first.

Imports no library, so that who only asks a warehouse needs none of those that read pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gpuledger.extract.items import Looked

#: For each selector of the page that is being read, how often it was looked for and found; None where nobody counts.
_looks: ContextVar[dict[str, tuple[int, int]] | None] = ContextVar("looks", default=None)


def note(selector: str, *, found: bool) -> None:
    """Count one look."""
    looks = _looks.get()
    if looks is not None:
        before = looks.get(selector, (0, 0))
        looks[selector] = before[0] + 1, before[1] + found


@contextmanager
def counted() -> Iterator[Callable[[], list[Looked]]]:
    """Counts the looks meanwhile; call what it gives for the counts, one a selector."""
    looks: dict[str, tuple[int, int]] = {}
    token = _looks.set(looks)
    try:
        yield lambda: [Looked(selector=css, asked=asked, found=found) for css, (asked, found) in looks.items()]
    finally:
        _looks.reset(token)
