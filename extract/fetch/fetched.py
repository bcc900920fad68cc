"""The result of one successful request. In a module of its own, so that reading the archive does not import requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer to one fetch.

    `url` is the requested address and `final_url` the address where the redirects ended. Header names are in lower case.
    `content` is the body after decompression. With `not_modified` (status 304) `content` is empty, because the page that was
    archived last is still valid.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    not_modified: bool = False

    @property
    def host(self) -> str:
        """The host that gave the answer."""
        return urlsplit(self.final_url).hostname or ""
