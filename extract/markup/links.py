"""Links as pages write them. A link that is no valid address counts as no link, and the rest of its page is still read."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit


def joined(base: str, link: str) -> str:
    """Where a link on the page `base` leads; empty if it is no valid address, such as `http://[`."""
    try:
        address = urljoin(base, link)
        urlsplit(address)
    except ValueError:
        return ""
    return address
