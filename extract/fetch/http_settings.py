"""The settings of the HTTP client. In a module of their own, so that reading settings does not import requests."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from types import MappingProxyType

#: The name of this client in robots.txt.
PRODUCT = "gpuledger"


def _default_user_agent() -> str:
    try:
        return f"{PRODUCT}/{metadata.version(PRODUCT)}"
    except metadata.PackageNotFoundError:  # a source tree that was not installed
        return f"{PRODUCT}/0"


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """How the client behaves. Times in seconds, sizes in bytes.

    `user_agent` names this program honestly. `contact` follows it: an address or a page where a site's owner reaches the
    operator. `delay_s` is the pause between two requests to one host. A longer Crawl-delay in robots.txt replaces it, up to
    `crawl_delay_ceiling_s`. `deadline_s` limits one try from connecting to the last byte, including redirects but not the
    wait for a turn. `max_body_bytes` limits the body before and after decompression. If Retry-After is longer than
    `retry_after_ceiling_s`, the client does not wait but fails. `connect_to` sends a host name to a fixed IP address and
    port, like curl's --connect-to. It is the only way to an address that is not public. `ca_bundle` is a file of
    certificates to trust instead of the usual ones.
    """

    user_agent: str = field(default_factory=_default_user_agent)
    contact: str | None = None
    delay_s: float = 1.0
    crawl_delay_ceiling_s: float = 30.0
    deadline_s: float = 30.0
    connect_timeout_s: float = 10.0
    max_body_bytes: int = 5_000_000
    max_attempts: int = 3
    retry_after_ceiling_s: float = 60.0
    max_redirects: int = 5
    connect_to: Mapping[str, tuple[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    ca_bundle: str | None = None

    def __post_init__(self) -> None:
        for name in ("deadline_s", "connect_timeout_s", "max_body_bytes", "max_attempts"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above zero, not {getattr(self, name)}")
        for name in ("delay_s", "crawl_delay_ceiling_s", "retry_after_ceiling_s", "max_redirects"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)}")
        for host, (ip, port) in self.connect_to.items():
            if host != host.lower() or not 0 < port < 65536:
                raise ValueError(f"connect_to wants a host name in lower case and a port, not {host!r} and {port}")
            ipaddress.ip_address(ip)  # raises ValueError
        if not self.agent.isprintable() or not self.agent.isascii():
            raise ValueError(f"user agent and contact must be printable ASCII, not {self.agent!r}")

    @property
    def agent(self) -> str:
        """The User-Agent header."""
        return f"{self.user_agent} (+{self.contact})" if self.contact else self.user_agent
