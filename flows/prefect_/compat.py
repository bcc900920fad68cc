"""Versions of libraries that Prefect 3.8 accepts and does not work with. Found by running them, not by reading."""

from __future__ import annotations

from importlib import metadata

#: Library, the first version that breaks, and what breaks.
BROKEN_FROM = (
    ("sqlalchemy", (2, 1), "its server plans no run at all ('please supply a bulk_dml decorated function')"),
    ("fastapi", (0, 151), "its server refuses the nulls that its own client sends, as in `prefect deploy`"),
)


def problems() -> list[str]:
    """What is installed that would keep Prefect's own server from working, a sentence each, with the way out."""
    messages = []
    for name, broken, what in BROKEN_FROM:
        version = metadata.version(name)
        if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) >= broken:
            wanted = ".".join(map(str, broken))
            messages.append(f"with {name} {version} Prefect 3.8 fails: {what}; install '{name}<{wanted}'")
    return messages
