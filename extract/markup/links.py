"""Links as pages write them: one that is no address is no link, and costs its page nothing else."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit


def joined(base: str, link: str) -> str:
    """Where a link on the page `base` leads; empty where it is no address, such as `http://[`."""
    try:
        found = urljoin(base, link)
        urlsplit(found)
    except ValueError:
        return ""
    return found
