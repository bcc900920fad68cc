"""How an official interface is asked: what it wants of whoever asks, and how long it lets its pages be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a source's interface wants. `credentials` are the settings that hold it; without all of them it is not read.

    Either the first of them goes along as the query's `parameter`, or both of them are exchanged at `token_url` for a
    bearer token of `scope` (OAuth 2.0, client credentials: RFC 6749, 4.4). A query parameter in `as_header` is sent as that
    header instead.
    """

    credentials: tuple[str, ...]
    parameter: str | None = None
    token_url: str | None = None
    scope: str = ""
    as_header: Mapping[str, str] = field(default_factory=dict)
