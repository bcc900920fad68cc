"""Decides which addresses may be fetched: only public http and https addresses.

A page decides where its redirects and links lead, so every address is hostile input. An address that is refused here never
reaches the resolver or a socket. `refused_ip` checks the IP addresses of a host name again when the connection is made (see
`pinned`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Container
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from gpuledger.errors import ForbiddenAddress
from gpuledger.redaction import redact

__all__ = ["Target", "check", "host_of", "redact", "refused_ip", "said_behind"]

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# ipaddress.is_global calls these networks public, although no public host is in them:
# 6to4 relays (RFC 7526), multicast (RFC 5771), and Azure's WireServer, which hands out a machine's secrets.
_REFUSED_IPV4 = tuple(map(ipaddress.IPv4Network, ("192.88.99.0/24", "224.0.0.0/4", "192.0.0.0/24", "168.63.129.16/32")))
# The only block of global unicast addresses (RFC 4291). Within it we refuse the networks that tunnel to an embedded IPv4
# address (Teredo, 6to4), protocol assignments, and documentation (IANA's special-purpose registry).
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the IPv4 address that is reached

# Names that never mean a public host (RFC 6761, 6762, 8375, and names that resolvers and clouds use internally).
_INNER_DOMAINS = ("localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan", "onion")
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.(?!-)[a-z0-9_-]{1,63})*")
# Browsers and getaddrinfo take a host whose last label is a number for an IPv4 address (WHATWG URL, "ends in a number").
_ENDS_IN_NUMBER = re.compile(r"(.*\.)?(\d+|0x[0-9a-f]*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Target:
    """An address that was parsed and allowed. `host` is lower-case ASCII, without brackets and without a final dot."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port. Each origin has its own robots.txt (RFC 9309, 2.3)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{host}" if self.port == default else f"{self.scheme}://{host}:{self.port}"


def check(url: str, mapped: Container[str] = ()) -> Target:
    """Parse `url`, or raise ForbiddenAddress with the reason. Uses neither the resolver nor the network.

    `mapped` holds the host names that the settings send to a fixed address. They are allowed whatever they look like.
    The fragment is dropped and `..` in the path is resolved, so that robots.txt is checked for the path that will be
    requested. The client quotes the characters of path and query that are not ASCII.
    """
    shown_url = redact(url)
    # Browsers, urllib and getaddrinfo read these characters differently. So one host could be checked and another reached.
    if _CONTROL.search(url):
        raise ForbiddenAddress(repr(shown_url), "the address holds a control character")
    if "\\" in url.split("?", 1)[0]:
        raise ForbiddenAddress(shown_url, "the address holds a backslash, which some readers take for a slash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenAddress(shown_url, f"not an address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ForbiddenAddress(shown_url, f"the scheme is {parts.scheme or 'missing'}, not http or https")
    if "@" in parts.netloc:
        raise ForbiddenAddress(
            shown_url, "the address holds a user name or a password", "leave out what stands before the @"
        )
    host = _host(parts, shown_url)
    if host not in mapped:
        reason = _refused_host(host)
        if reason:
            raise ForbiddenAddress(shown_url, reason)
    port = {"http": 80, "https": 443}[parts.scheme] if port is None else port
    if port == 0:
        raise ForbiddenAddress(shown_url, "port 0 is no port")
    target = Target("", parts.scheme, host, port)
    clean = urlunsplit((parts.scheme, target.origin.split("//", 1)[1], _path(parts.path), parts.query, ""))
    return Target(clean, parts.scheme, host, port)


def said_behind(url: str) -> dict[str, str]:
    """What the settings say behind the `#` of an address, which goes to no server: `…/feed.csv#country=de`."""
    return dict(parse_qsl(urlsplit(url).fragment))


def host_of(url: str) -> str | None:
    """The host of an address, in the form of `Target.host`. None if the address has no host.

    Does not check whether the host may be fetched from.
    """
    try:
        return _host(urlsplit(url), url) or None
    except (ValueError, ForbiddenAddress):
        return None


def shop_of(url: str) -> str:
    """The host of an address without `www.`, because a shop answers with and without it. Empty if there is no host."""
    return (host_of(url) or "").removeprefix("www.")


def refused_ip(address: str) -> str | None:
    """The reason why no connection may go to this IP address, or None if the address is public.

    If an IPv6 address contains an IPv4 address (mapped, NAT64), the IPv4 address decides.
    """
    if "%" in address:
        return f"{address} is bound to one network interface"
    try:
        ip: IPAddress = ipaddress.ip_address(address)
    except ValueError:
        return f"{address!r} is no IP address"
    inner = ip
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            inner = ip.ipv4_mapped
        elif ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if isinstance(inner, ipaddress.IPv4Address):
        public = inner.is_global and not any(inner in network for network in _REFUSED_IPV4)
    else:
        public = inner in _GLOBAL_IPV6 and not any(inner in network for network in _REFUSED_IPV6)
    if public:
        return None
    return f"{ip} is a {_kind(inner)} address"


def _host(parts: SplitResult, shown_url: str) -> str:
    """The host in its only ASCII form. Raises ForbiddenAddress."""
    host = (parts.hostname or "").removesuffix(".")
    if "%" in host:
        raise ForbiddenAddress(shown_url, "the host holds a % (an escaped character or an interface)")
    if parts.netloc.startswith("["):
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise ForbiddenAddress(shown_url, f"[{host}] is no IPv6 address") from None
    if not host.isascii():
        import idna  # costs 20 ms; few shops have such a name

        try:
            # UTS 46 turns look-alikes of ASCII (full-width digits, circled digits, the ideographic full stop) into ASCII.
            # So the checks below judge the host that would really be contacted.
            host = idna.encode(host, uts46=True).decode("ascii").removesuffix(".")
        except idna.IDNAError as error:
            raise ForbiddenAddress(shown_url, f"the host is not a name: {error}") from None
    if not _HOST_NAME.fullmatch(host) or len(host) > 253:
        raise ForbiddenAddress(shown_url, "the address has no valid host name")
    return host


def _path(path: str) -> str:
    """The path without `.` and `..`, escaped or not, as every HTTP library sends it (RFC 3986, 5.2.4)."""
    segments: list[str] = []
    *folders, last = re.sub("%2e", ".", path.removeprefix("/"), flags=re.IGNORECASE).split("/")
    for segment in folders:
        if segment == "..":
            del segments[-1:]
        elif segment != ".":
            segments.append(segment)
    if last == "..":
        del segments[-1:]
    return "/" + "/".join([*segments, "" if last in (".", "..") else last])


def _refused_host(host: str) -> str | None:
    if ":" in host:
        return refused_ip(host)
    if _ENDS_IN_NUMBER.fullmatch(host):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            return f"{host} is an IP address in an unusual form (decimal, octal, hexadecimal or shortened)"
        return refused_ip(host)
    if "." not in host or any(host == domain or host.endswith("." + domain) for domain in _INNER_DOMAINS):
        return f"{host} is a name of an inner network"
    return None


def _kind(ip: IPAddress) -> str:
    for kind in ("unspecified", "loopback", "link_local", "multicast", "private"):
        if getattr(ip, f"is_{kind}"):
            return kind.replace("_", "-")
    return "reserved"
