"""Versions of libraries that Prefect 3.8 accepts and does not work with. Runs showed this; no documentation says it."""

from __future__ import annotations

from importlib import metadata

#: Library, the first version that breaks, and what breaks.
BROKEN_FROM = (
    ("sqlalchemy", (2, 1), "its server plans no run at all ('please supply a bulk_dml decorated function')"),
    ("fastapi", (0, 151), "its server refuses the nulls that its own client sends, as in `prefect deploy`"),
)


def problems() -> list[str]:
    """A sentence for each installed library with which Prefect's own server does not work, with the way out."""
    messages = []
    for name, broken, fault in BROKEN_FROM:
        version = metadata.version(name)
        if tuple(int(part) for part in version.split(".")[:2] if part.isdecimal()) >= broken:
            broken_from = ".".join(map(str, broken))
            messages.append(f"with {name} {version} Prefect 3.8 fails: {fault}; install '{name}<{broken_from}'")
    return messages
