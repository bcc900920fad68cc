"""The hosts that one source is read from. Links and redirects of a page must not lead us to other hosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from gpuledger.errors import ForeignHost
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.addresses import Target


@dataclass(frozen=True, slots=True)
class Site:
    """The hosts of a source, in lower case. With `is_https` no address of the source is fetched without TLS.

    The source is read on the `ports` that its addresses name and on the default ports of http and https. Other ports are
    refused, because what answers there need not belong to the shop.
    """

    hosts: frozenset[str]
    is_https: bool
    ports: frozenset[int] = frozenset()

    def check(self, target: Target, shown_url: str) -> None:
        """Raise ForeignHost if `target` has another host or port, or has no TLS although the source has it.

        `shown_url` is the address that was requested first, which the error names.
        """
        if target.host not in self.hosts:
            raise ForeignHost(
                shown_url, f"it leads to {target.host}, and the source is of {', '.join(sorted(self.hosts))}"
            )
        if target.port != _PORTS[target.scheme] and target.port not in self.ports:
            raise ForeignHost(
                shown_url, f"it leads to port {target.port} of {target.host}, which the source does not name",
                "look what answers there; the source's own address may name its port",
            )  # fmt: skip
        if self.is_https and target.scheme != "https":
            raise ForeignHost(
                shown_url, f"it leads to {target.host} without TLS, and the source is read with it",
                "use the https address; a page that only http gives may be anybody's",
            )  # fmt: skip


_PORTS = {"http": 80, "https": 443}


def site_of(starts: Iterable[str], more: Iterable[str] = ()) -> Site:
    """The site of a source that starts at these addresses: their hosts with and without `www.`, the hosts `more`, and ports.

    An invalid address adds no host. It fails by itself when it is fetched.
    """
    own = {start: host for start in starts if (host := addresses.host_of(start))}
    bare = {host.removeprefix("www.") for host in own.values()}
    ports = {port for start in own if (port := _port(start)) is not None}
    hosts = {*own.values(), *bare, *(f"www.{host}" for host in bare), *more}
    return Site(
        frozenset(hosts), bool(own) and all(urlsplit(start).scheme == "https" for start in own), frozenset(ports)
    )


def _port(start: str) -> int | None:
    """The port that an address names. None if it names no port, or if the port is not a number."""
    try:
        return urlsplit(start).port
    except ValueError:
        return None
