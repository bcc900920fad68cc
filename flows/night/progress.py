"""What a run says of itself while it goes on. Whoever starts it may hand in somebody who listens; the run does not know how
it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

#: The parts of all long work, in the order in which a night comes to them. One that comes back goes on where it was.
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
    """Hears where the work is; this one hears it and says nothing. Called from several threads while sources are read."""

    def step(self, name: Step, total: int | None = None) -> None:
        """A step begins, of so many parts where that is known, and the one before it has ended."""

    def at(self, done: int, what: str = "") -> None:
        """So many parts of the step are done, and `what` is being done now."""

    def page(self, source: str, url: str, known: int) -> None:
        """A source asks for a page; `known` counts all of its pages that are known by now, those that were read included."""

    def read(self, source: str) -> None:
        """A source was read to its end."""

    def each(self, parts: Iterable[_Part], before: int = 0) -> Iterator[_Part]:
        """The parts of the step one by one, each counted when it is done; `before` were done earlier."""
        done = before
        for part in parts:
            yield part
            done += 1
            self.at(done)


SILENT = Progress()
