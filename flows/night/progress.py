"""What a run reports while it goes on. Its caller may pass in a listener, and the run does not know how that shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

#: The steps of all long work, in the order in which a night comes to them. A step that comes again goes on where it was.
Step = Literal[
    "verify",
    "read",
    "replay",
    "check",
    "load",
    "identify",
    "build",
    "audit",
    "publish",
    "ask",
    "models",
    "write",
    "export",
]
_Part = TypeVar("_Part")


class Progress:
    """Hears where the work is. This base class shows nothing. Several threads call it while sources are read."""

    def step(self, name: Step, total: int | None = None) -> None:
        """A step begins and the previous one has ended. It has `total` parts, if that is known."""

    def at(self, done: int, what: str = "") -> None:
        """`done` parts of the step are done, and the work is now at `what`."""

    def page(self, source: str, url: str, known: int) -> None:
        """A source requests a page. `known` counts all of its pages that are known by now, read or not."""

    def source_done(self, source: str) -> None:
        """A source was read to its end."""

    def each(self, parts: Iterable[_Part]) -> Iterator[_Part]:
        """Yields the parts of the step and counts each when it is done."""
        for done, part in enumerate(parts, start=1):
            yield part
            self.at(done)


SILENT = Progress()
