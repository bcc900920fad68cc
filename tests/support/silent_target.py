"""A notification target on loopback that takes the connection and never answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent() -> Iterator[str]:
    """The address of a target that takes the connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as bound:
        # Longer read timeouts than a run may wait: it is the run's own deadline that must hold.
        yield f"json://127.0.0.1:{bound.getsockname()[1]}/silent?rto=120&cto=120"
