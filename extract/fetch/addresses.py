"""Which addresses may be fetched: public http and https only.

A page decides where a redirect or a link leads, so an address is hostile input. What is refused here never reaches the
resolver or a socket; what a name resolves to is checked again, by `refused_ip`, when the connection is made (see `pinned`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Container
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

from gpuledger.extract.errors import ForbiddenAddress
from gpuledger.extract.redaction import redact

__all__ = ["Target", "check", "host_of", "redact", "refused_ip"]

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Not refused by ipaddress.is_global although nothing public lives there:
# 6to4 relays (RFC 7526), multicast (RFC 5771), Azure's WireServer, which hands out a machine's secrets.
_REFUSED_IPV4 = tuple(map(ipaddress.IPv4Network, ("192.88.99.0/24", "224.0.0.0/4", "192.0.0.0/24", "168.63.129.16/32")))
# The one block of global unicast (RFC 4291), less what tunnels to an embedded IPv4 address (Teredo, 6to4), protocol
# assignments and documentation (IANA's special-purpose registry).
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the IPv4 address that is reached

# Names that never mean a public host (RFC 6761, 6762, 8375 and what resolvers and clouds use inside).
_INNER_DOMAINS = ("localhost", "localdomain", "local", "internal", "intranet", "home.arpa", "lan", "onion")
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.(?!-)[a-z0-9_-]{1,63})*")
# A host whose last label is a number is an IPv4 address to a browser and to getaddrinfo (WHATWG URL, "ends in a number").
_ENDS_IN_NUMBER = re.compile(r"(.*\.)?(\d+|0x[0-9a-f]*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Target:
    """An address that was taken apart and allowed. `host` is in lower case, in ASCII, without brackets and final dot."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port: what one robots.txt speaks for (RFC 9309, 2.3)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{host}" if self.port == default else f"{self.scheme}://{host}:{self.port}"


def check(url: str, mapped: Container[str] = ()) -> Target:
    """Take `url` apart, or raise ForbiddenAddress with the reason. Touches neither resolver nor network.

    `mapped` are the host names that the settings send to a fixed address: they are allowed whatever they look like.
    A fragment is dropped and `..` in the path is resolved, so that robots.txt is asked about what will be requested. What is
    not ASCII in path and query is left to the client to quote.
    """
    shown = redact(url)
    # Browsers, urllib and getaddrinfo disagree about these, and by a disagreement one host is checked and another reached.
    if _CONTROL.search(url):
        raise ForbiddenAddress(repr(shown), "the address holds a control character")
    if "\\" in url.split("?", 1)[0]:
        raise ForbiddenAddress(shown, "the address holds a backslash, which some readers take for a slash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenAddress(shown, f"not an address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ForbiddenAddress(shown, f"the scheme is {parts.scheme or 'missing'}, not http or https")
    if "@" in parts.netloc:
        raise ForbiddenAddress(
            shown, "the address holds a user name or a password", "leave out what stands before the @"
        )
    host = _host(parts, shown)
    if host not in mapped:
        reason = _refused_host(host)
        if reason:
            raise ForbiddenAddress(shown, reason)
    port = {"http": 80, "https": 443}[parts.scheme] if port is None else port
    if port == 0:
        raise ForbiddenAddress(shown, "port 0 is no port")
    target = Target("", parts.scheme, host, port)
    clean = urlunsplit((parts.scheme, target.origin.split("//", 1)[1], _path(parts.path), parts.query, ""))
    return Target(clean, parts.scheme, host, port)


def host_of(url: str) -> str | None:
    """The host of an address in the form that `Target.host` has, whether or not it may be asked; None where it has none."""
    try:
        return _host(urlsplit(url), url) or None
    except (ValueError, ForbiddenAddress):
        return None


def shop_of(url: str) -> str:
    """The host of an address without `www.`, as a shop answers to both; empty where it has none."""
    return (host_of(url) or "").removeprefix("www.")


def refused_ip(address: str) -> str | None:
    """Why no connection may go to this IP address, or None where it is public.

    An IPv6 address that carries an IPv4 one (mapped, NAT64) is judged by that one.
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


def _host(parts: SplitResult, shown: str) -> str:
    """The host in its one ASCII form, or ForbiddenAddress."""
    host = (parts.hostname or "").removesuffix(".")
    if "%" in host:
        raise ForbiddenAddress(shown, "the host holds a % (an escaped character or an interface)")
    if parts.netloc.startswith("["):
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise ForbiddenAddress(shown, f"[{host}] is no IPv6 address") from None
    if not host.isascii():
        import idna  # costs 20 ms; few shops have such a name

        try:
            # UTS 46 turns look-alikes of ASCII (full-width digits, circled digits, the ideographic full stop) into ASCII,
            # so what follows judges the host that would really be asked for.
            host = idna.encode(host, uts46=True).decode("ascii").removesuffix(".")
        except idna.IDNAError as error:
            raise ForbiddenAddress(shown, f"the host is not a name: {error}") from None
    if not _HOST_NAME.fullmatch(host) or len(host) > 253:
        raise ForbiddenAddress(shown, "the address has no valid host name")
    return host


def _path(path: str) -> str:
    """The path without `.` and `..`, escaped ones included, as every HTTP library sends it (RFC 3986, 5.2.4)."""
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
