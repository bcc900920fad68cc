"""What one successful request brought. Apart from the client, so that reading the archive does not import requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer to one fetch.

    `url` is the address asked for and `final_url` where the redirects ended. Header names are in lower case. `content` is
    the body after decompression; with `not_modified` (status 304) it is empty: the page archived last still holds.
    `attempts` counts the tries that this answer took, `elapsed_s` is the time in seconds over all of them, and
    `wire_bytes` the size of the body as it was sent.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    not_modified: bool = False
    attempts: int = 1
    elapsed_s: float = 0.0
    wire_bytes: int = 0
