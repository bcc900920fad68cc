"""The hosts that one source is read from: a page decides where its links and redirects lead, and not whom we ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from gpuledger.extract.errors import ForeignHost
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.addresses import Target


@dataclass(frozen=True, slots=True)
class Site:
    """The hosts of a source, in lower case. With `is_https` none of its addresses is fetched without TLS."""

    hosts: frozenset[str]
    is_https: bool

    def check(self, target: Target, shown: str) -> None:
        """Raise ForeignHost where `target` is of another host, or has lost the TLS that the source has.

        `shown` is the address that was asked for first: the one to name in the error.
        """
        if target.host not in self.hosts:
            raise ForeignHost(shown, f"it leads to {target.host}, and the source is of {', '.join(sorted(self.hosts))}")
        if self.is_https and target.scheme != "https":
            raise ForeignHost(
                shown, f"it leads to {target.host} without TLS, and the source is read with it",
                "use the https address; a page that only http gives may be anybody's",
            )  # fmt: skip


def site_of(starts: Iterable[str], more: Iterable[str] = ()) -> Site:
    """The site of a source that starts at these addresses: their hosts, with and without `www.`, and `more` of them.

    An address that is none adds no host; it fails by itself when it is fetched.
    """
    own = {start: host for start in starts if (host := addresses.host_of(start))}
    bare = {host.removeprefix("www.") for host in own.values()}
    hosts = {*own.values(), *bare, *(f"www.{host}" for host in bare), *more}
    return Site(frozenset(hosts), bool(own) and all(urlsplit(start).scheme == "https" for start in own))
