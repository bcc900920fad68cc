"""Connections that go only to allowed addresses: resolve the name once, check the addresses, connect to one of them.

If the library resolved a checked name again, it could get another address (DNS rebinding). So the check and the connection
use the same answer of the resolver. The Host header, SNI and the certificate check still use the host's name.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection
from urllib3.util.ssl_ import create_urllib3_context

from gpuledger.extract.fetch.addresses import refused_ip

#: Takes a host name and a port, returns IP addresses in order of preference. Raises socket.gaierror.
Resolver = Callable[[str, int], Sequence[str]]


class RefusedPeer(Exception):
    """The host's name leads to a forbidden address. The client turns this error into ForbiddenAddress."""


def system_resolver(host: str, port: int) -> list[str]:
    """The addresses of `host` as the operating system knows them. Raises socket.gaierror."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class Route:
    """Finds where a connection to a host goes: to its mapped address, or to the public addresses of its name."""

    def __init__(self, connect_to: Mapping[str, tuple[str, int]], resolve: Resolver) -> None:
        self._connect_to = connect_to
        self._resolve = resolve

    def peers(self, host: str, port: int, timeout_s: float) -> list[tuple[str, int]]:
        """The IP address and port of every allowed peer. Raises RefusedPeer, socket.gaierror and TimeoutError.

        A single forbidden address refuses the host, because an attacker's name server mixes the two kinds on purpose.
        """
        if host in self._connect_to:
            return [self._connect_to[host]]
        addresses = _within(timeout_s, lambda: self._resolve(host, port))
        for address in addresses:
            reason = refused_ip(address)
            if reason:
                raise RefusedPeer(f"{host} leads to {address}: {reason}")
        return [(address, port) for address in addresses]


def _within(timeout_s: float, work: Callable[[], Sequence[str]]) -> Sequence[str]:
    """The result of `work()`, or TimeoutError. getaddrinfo has no timeout, and a dead name server can block it a minute."""
    result: list[Sequence[str]] = []
    failure: list[Exception] = []

    def run() -> None:
        try:
            result.append(work())
        except Exception as error:  # noqa: BLE001  raised below, in the calling thread
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True, name="resolve")
    thread.start()
    thread.join(timeout_s)
    if failure:
        raise failure[0]
    if not result:
        raise TimeoutError(f"the name was not resolved within {timeout_s:.0f} s")
    return result[0]


class _WholeTimeout:
    """A socket with one timeout for all reads together, counted from `settimeout` on. It does not restart with each packet.

    Otherwise a server that sends one byte per second could hold a fetch for ever.
    """

    _until: float | None = None

    def settimeout(self, value: float | None, /) -> None:
        self._until = None if value is None else time.monotonic() + value
        super().settimeout(value)  # type: ignore[misc]

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        if self._until is not None:
            seconds_left = self._until - time.monotonic()
            if seconds_left <= 0:
                raise TimeoutError("timed out")
            super().settimeout(seconds_left)  # type: ignore[misc]
        count: int = super().recv_into(*args, **kwargs)  # type: ignore[misc]
        return count


class _Socket(_WholeTimeout, socket.socket):
    pass


class _TLSSocket(_WholeTimeout, ssl.SSLSocket):
    pass


class _Pinned(HTTPConnection):
    """The part that plain and TLS connections share. urllib3 makes the TCP connection of both in `_new_conn`."""

    route: ClassVar[Route]

    def _new_conn(self) -> socket.socket:
        until = time.monotonic() + (self.timeout or 10.0)
        try:
            peers = self.route.peers(self.host, self.port, until - time.monotonic())
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, str(error)) from error
        last: OSError = OSError("the name has no address")
        for ip, port in peers:
            seconds_left = until - time.monotonic()
            if seconds_left <= 0:
                break
            try:
                plain = create_connection((ip, port), timeout=seconds_left, socket_options=self.socket_options)
            except OSError as error:
                last = error
                continue
            return self._checked(plain, ip, port, until - time.monotonic())
        if isinstance(last, TimeoutError):
            raise ConnectTimeoutError(self, f"no connection to {self.host} in time") from last
        raise NewConnectionError(self, f"no connection to {self.host}: {last}") from last

    @staticmethod
    def _checked(plain: socket.socket, ip: str, port: int, timeout_s: float) -> socket.socket:
        peer_ip, peer_port = plain.getpeername()[:2]
        if ipaddress.ip_address(peer_ip) != ipaddress.ip_address(ip) or peer_port != port:
            plain.close()
            raise RefusedPeer(f"connected to {peer_ip} port {peer_port} instead of {ip} port {port}")
        sock = _Socket(fileno=plain.detach())
        sock.settimeout(max(timeout_s, 0.001))
        return sock


class _PinnedTLS(_Pinned, HTTPSConnection):
    pass


class PinnedAdapter(HTTPAdapter):
    """Carries requests over connections that follow `route`. Uses no proxy, because behind one the peer is unknown."""

    def __init__(self, route: Route) -> None:
        self._route = route
        # One connection per host stays open. The client's turns ensure that there is never a second one.
        super().__init__(pool_connections=64, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        """Make the pools. requests calls this method."""
        context = create_urllib3_context()
        # Without this, urllib3 would let anybody who sets SSLKEYLOGFILE read the traffic.
        context.keylog_filename = None  # type: ignore[assignment]  # None switches it off; the type hints do not know that
        context.sslsocket_class = _TLSSocket
        super().init_poolmanager(connections, maxsize, block=block, ssl_context=context, **kwargs)
        bound = {"route": self._route}
        plain, tls = type("Plain", (_Pinned,), bound), type("TLS", (_PinnedTLS,), bound)
        self.poolmanager.pool_classes_by_scheme = {
            "http": type("PlainPool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
            "https": type("TLSPool", (HTTPSConnectionPool,), {"ConnectionCls": tls}),
        }
