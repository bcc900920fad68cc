"""What an official interface requires of a client: its credentials and how they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a source's interface requires. `credentials` names the settings with the credentials.

    The source is not read unless all of these settings are set. Either the first credential is sent as the query parameter
    `parameter`, or both credentials are exchanged at `token_url` for a bearer token of `scope` (OAuth 2.0, client
    credentials: RFC 6749, 4.4). A query parameter in `as_header` is sent as that header instead.
    """

    credentials: tuple[str, ...]
    parameter: str | None = None
    token_url: str | None = None
    scope: str = ""
    as_header: Mapping[str, str] = field(default_factory=dict)
